"""Whole classes of sentences over kinds and languages: what one of a class showed, and its neighbours of our own."""

# ruff: noqa: RUF001 - words and digits of other scripts, in their own shapes

import pytest

from agent.content.detectors import find

TOKEN = "a1B2c3D4" * 5


def shown(text: str) -> list[tuple[str, str]]:
    return [(hit.kind, text[hit.start : hit.end]) for hit in find(text)]


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        ("the card number is 4 1 4 7 6 9 5 3 8 1 7 9 5 6 0 1, thanks", "card", "4 1 4 7 6 9 5 3 8 1 7 9 5 6 0 1"),
        ("it reads 4-1-4-7-6-9-5-3-8-1-7-9-5-6-0-1 on the front", "card", "4-1-4-7-6-9-5-3-8-1-7-9-5-6-0-1"),
        (
            "Karte: 5, 1, 0, 5, 1, 0, 5, 1, 0, 5, 1, 0, 5, 1, 0, 0.",
            "card",
            "5, 1, 0, 5, 1, 0, 5, 1, 0, 5, 1, 0, 5, 1, 0, 0",
        ),
        ("carte 3.7.8.2.8.2.2.4.6.3.1.0.0.0.5", "card", "3.7.8.2.8.2.2.4.6.3.1.0.0.0.5"),
        ("tarjeta 41 47 69 53 81 79 56 01", "card", "41 47 69 53 81 79 56 01"),
        ("card 4147 6953 81 79 56 01", "card", "4147 6953 81 79 56 01"),
        (
            "卡号 ４ １ ４ ７ ６ ９ ５ ３ ８ １ ７ ９ ５ ６ ０ １",
            "card",
            "４ １ ４ ７ ６ ９ ５ ３ ８ １ ７ ９ ５ ６ ０ １",
        ),
        ("my phone is 0 7 4 0 0 1 2 3 4 5 6 ok", "phone", "0 7 4 0 0 1 2 3 4 5 6"),
        ("call + 4 4 7 4 0 0 1 2 3 4 5 6 ok", "phone", "+ 4 4 7 4 0 0 1 2 3 4 5 6"),
        ("card 4 1 1 1  1 1 1 1  1 1 1 1  1 1 1 1", "card", "4 1 1 1  1 1 1 1  1 1 1 1  1 1 1 1"),
        ("it's 4-1-1-1 1-1-1-1 1-1-1-1 1-1-1-1", "card", "4-1-1-1 1-1-1-1 1-1-1-1 1-1-1-1"),
        ("card 4 1 1 1, 1 1 1 1, 1 1 1 1, 1 1 1 1", "card", "4 1 1 1, 1 1 1 1, 1 1 1 1, 1 1 1 1"),
        ("BSN 1 1 1 2 2 2 3 3 3", "national_id", "1 1 1 2 2 2 3 3 3"),
        ("IBAN D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0", "iban", "D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 0"),
    ],
)
def test_what_is_told_digit_by_digit_is_found_whole(text: str, kind: str, part: str) -> None:
    assert shown(text) == [(kind, part)]


@pytest.mark.parametrize(
    "text",
    [
        "4 1 4 7 6 9 5 3 8 1 7 9 5 6 0 1\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
        "row [4, 1, 4, 7, 6, 9, 5, 3, 8, 1, 7, 9, 5, 6, 0, 1]",
        "scores 5 3 0 0 7 0 0 0 0 6 0 0 1 9 5 0",
        "the steps 1 2 3 4 5 6 7 8 9",
    ],
)
def test_rows_of_digits_are_no_card(text: str) -> None:
    assert shown(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "part"),
    [
        (f"https://oauth2:glpat-{TOKEN[:20]}@git.example/a.git", "vendor_token", f"glpat-{TOKEN[:20]}"),
        (f"https://x-access-token:ghs_{TOKEN[:36]}@github.com/a.git", "vendor_token", f"ghs_{TOKEN[:36]}"),
        (f"username = __token__ and password = pypi-{TOKEN}", "vendor_token", f"pypi-{TOKEN}"),
        (f"Server=a;Password=npm_{TOKEN[:36]};Database=b", "vendor_token", f"npm_{TOKEN[:36]}"),
        ("PESEL w aktach, tel. +48 601 123 456", "phone", "+48 601 123 456"),
        ("NIE aparte. Llámame al +34 612 345 678, por favor", "phone", "+34 612 345 678"),
        ("DNI y NIE entregados: +34 612 345 678", "phone", "+34 612 345 678"),
        ("BSN on file; my SIN too; (+34) 612 345 678", "phone", "(+34) 612 345 678"),
        ("0034 612 345 678 with my NIF", "phone", "0034 612 345 678"),
        ("我的手机号是13912345678，身份证在后面", "phone", "13912345678"),
        ("张伟 13812345678 已付款", "phone", "13812345678"),
        ("https://wa.me/34612345678?text=hi", "phone", "34612345678"),
        ("T.C. kimlik numaram 92673273638, GSM yok", "national_id", "92673273638"),
        ("請打 138-1234-5678 找我", "phone", "138-1234-5678"),
    ],
)
def test_the_narrower_kind_gives_its_name(text: str, kind: str, part: str) -> None:
    assert shown(text) == [(kind, part)]


@pytest.mark.parametrize("end", ["-", "_", "--", "-_"])
@pytest.mark.parametrize("start", ["sk-ant-admin01-", "glpat-", "pypi-", "xai-", "dckr_pat_"])
def test_no_rest_of_a_token_is_left(start: str, end: str) -> None:
    token = f"{start}{TOKEN}{TOKEN}" + (end if start != "xai-" else "")
    assert shown(f"key {token} here") == [("vendor_token", token)]


@pytest.mark.parametrize("number", ["+34  612 345 678", "+34 - 612 345 678", "(+34) 612-345-678", "+ 34 612 345 678"])
def test_no_country_code_is_left(number: str) -> None:
    assert shown(f"DNI aparte: {number} gracias") == [("phone", number)]


PHONES = [
    ("da", "I kan ringe på 32 12 34 56 efter kl. 16", "32 12 34 56"),
    ("da", "Han ringede fra 32 12 34 56", "32 12 34 56"),
    ("da", "Min mobil er 32123456", "32123456"),
    ("no", "Du kan nå meg på telefonnummeret 912 34 567", "912 34 567"),
    ("no", "Ringer du 912 34 567 i kveld?", "912 34 567"),
    ("sv", "Jag ringde 70 123 45 67 igår", "70 123 45 67"),
    ("sv", "Smsa 70 123 45 67", "70 123 45 67"),
    ("fi", "Soittakaa numeroon 40 123 4567", "40 123 4567"),
    ("fi", "Puhelimeni on 40 1234567", "40 1234567"),
    ("is", "Hringdu í 581 2345", "581 2345"),
    ("is", "Síminn minn er 581 2345", "581 2345"),
    ("de", "Erreichbar unter 30 1234567", "30 1234567"),
    ("de", "Rückruf bitte an 30 1234567", "30 1234567"),
    ("de", "Telefonisch: 30 1234567", "30 1234567"),
    ("nl", "Ik ben bereikbaar op 6 12345678", "6 12345678"),
    ("nl", "Gebeld vanaf 6 12345678", "6 12345678"),
    ("fr", "Vous pouvez me joindre au 612345678", "612345678"),
    ("fr", "Rappelez-moi au 612345678", "612345678"),
    ("es", "Mándame un wasap al 612 34 56 78", "612 34 56 78"),
    ("es", "Me llamaron del 612 34 56 78", "612 34 56 78"),
    ("ca", "Truca'm al 612 34 56 78", "612 34 56 78"),
    ("pt", "Telefonem para 912 345 678", "912 345 678"),
    ("pt", "Manda um zap no 91234-5678", "91234-5678"),
    ("it", "Richiamatemi al 347 1234567", "347 1234567"),
    ("it", "Telefonatemi al 347 1234567", "347 1234567"),
    ("ro", "Mă puteți apela la 722 123 456", "722 123 456"),
    ("ro", "Telefonul meu: 722 123 456", "722 123 456"),
    ("pl", "Proszę oddzwonić pod 601 123 456", "601 123 456"),
    ("pl", "Dzwoniłam z 601 123 456", "601 123 456"),
    ("cs", "Zavolejte mi prosím na 601 123 456", "601 123 456"),
    ("cs", "Volal jsem z 601 123 456", "601 123 456"),
    ("sk", "Zavolajte mi na 905 123 456", "905 123 456"),
    ("sl", "Pokličite me na 31 234 567", "31 234 567"),
    ("hr", "Nazovite me na 91 234 5678", "91 234 5678"),
    ("sr", "Pozovite 64 123 4567", "64 123 4567"),
    ("sr", "Позовите 64 123 4567", "64 123 4567"),
    ("bg", "Обадете се на 888 123 456", "888 123 456"),
    ("mk", "Јавете се на 70 123 456", "70 123 456"),
    ("ru", "Перезвоните на 912 345-67-89", "912 345-67-89"),
    ("ru", "Номер мобильника 912 345-67-89", "912 345-67-89"),
    ("uk", "Зателефонуйте 67 123 45 67", "67 123 45 67"),
    ("be", "Патэлефануйце 29 123 45 67", "29 123 45 67"),
    ("hu", "Hívjanak a 30 123 4567 számon", "30 123 4567"),
    ("et", "Helistage 5123 4567", "5123 4567"),
    ("lv", "Zvaniet 2912 3456", "2912 3456"),
    ("lt", "Skambinkite 612 34567", "612 34567"),
    ("el", "Καλέστε με στο 694 123 4567", "694 123 4567"),
    ("el", "Τηλεφωνήστε 694 123 4567", "694 123 4567"),
    ("sq", "Telefononi në 69 123 4567", "69 123 4567"),
    ("tr", "Beni 532 123 45 67 numarasından arayabilirsiniz", "532 123 45 67"),
    ("tr", "Cebim 532 123 45 67", "532 123 45 67"),
    ("az", "Zəng edin: 50 123 45 67", "50 123 45 67"),
    ("ka", "დამირეკეთ 599 12 34 56", "599 12 34 56"),
    ("hy", "Զանգահարեք 91 123456", "91 123456"),
    ("ar", "اتصلوا بي على 51 234 5678", "51 234 5678"),
    ("fa", "زنگ بزنید 912 345 6789", "912 345 6789"),
    ("ur", "کال کریں 300 1234567", "300 1234567"),
    ("he", "תתקשר אליי 52-123-4567", "52-123-4567"),
    ("hi", "मुझे कॉल करें 98765 43210", "98765 43210"),
    ("bn", "কল করুন 1712 345678", "1712 345678"),
    ("ta", "அழைக்கவும் 98765 43210", "98765 43210"),
    ("te", "ఫోన్ చేయండి 98765 43210", "98765 43210"),
    ("th", "โทรหาผม 81 234 5678", "81 234 5678"),
    ("vi", "Gọi cho tôi số 912 345 678", "912 345 678"),
    ("id", "Silakan telepon 812 3456 7890", "812 3456 7890"),
    ("ms", "Sila panggil 12 345 6789", "12 345 6789"),
    ("tl", "Tawagan mo ako sa 917 123 4567", "917 123 4567"),
    ("sw", "Nipigie 712 345 678", "712 345 678"),
    ("zh", "请回拨 1234 5678", "1234 5678"),
    ("zh", "打我手機 9123 4567", "9123 4567"),
    ("ja", "お電話は 3 1234 5678 まで", "3 1234 5678"),
    ("ko", "연락주세요 10 1234 5678", "10 1234 5678"),
    ("en", "texted me from 4155552671", "4155552671"),
    ("en", "calling 4155552671 again", "4155552671"),
]


@pytest.mark.parametrize(("language", "text", "number"), PHONES)
def test_a_telephone_is_found_by_its_word_as_languages_inflect_it(language: str, text: str, number: str) -> None:
    assert shown(text) == [("phone", number)], language


def test_a_column_of_callbacks_beside_a_column_of_digits_holds_telephones() -> None:
    text = "caller_id,callback,notes\n7781,02-2123456,late\n7782,2015550123,late\n7783,+90 212 345 67 89,late"
    assert [part for _, part in shown(text)] == ["02-2123456", "2015550123", "+90 212 345 67 89"]


@pytest.mark.parametrize("password", ["oak&amp;Elm9", "a&lt;b&gt;c9", "x&#38;y", "pa'ss&amp;w"])
def test_a_password_in_a_connection_string_holds_entities_of_xml(password: str) -> None:
    text = f'<add connectionString="Server=.;User Id=crm;Password={password};" providerName="x" />'
    assert shown(text) == [("connection_string", password)]


STAND_INS = [
    *("{{ vault.db }}", "{{vault.db}}", "{{ db_pass | urlencode }}", "{{ .Values.db.password }}", "${DB_PASS}"),
    *("${db.pass:-x}", "$DB_PASS", "$env:DB_PASS", "$(cat pw)", "%s", "%(password)s", "%DB_PASS%", "{password}"),
    *("<password>", "<your password>", "***", "********", "xxxxx", "...", "[password]", "&lt;password&gt;"),
    *("#{password}", "\\u003cpassword\\u003e", "@@PASSWORD@@", "__PASSWORD__", "YOUR_PASSWORD", "your-password"),
    *("<%= ENV['PW'] %>", "${{ secrets.DB }}", "'${DB_PASS}'", '"{{ vault.db }}"', "'***'", "\\${DB_PASS}", "#####"),
]


@pytest.mark.parametrize("stand_in", STAND_INS)
def test_what_stands_for_a_password_is_none(stand_in: str) -> None:
    assert shown(f"Server=a;Uid=b;Password={stand_in};Database=c") == []
    assert shown(f"host=a user=b password={stand_in} dbname=c") == []
    assert shown(f"Server=a;Uid=b;Pwd={stand_in}") == []
    assert shown(f"use postgres://app:{stand_in}@db.example:5432/app here") == []


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer YOUR_API_KEY",
        "Authorization: Bearer <token>",
        "Authorization: Bearer your-access-token",
        "Authorization: Bearer xxxxxxxxxxxxxxxxxxxx",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-api03-XXXXXXXXXXXXXXXXXXXXXXXXXX",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=xxxxxxxxxxxxxxxxxxxxxxxx;",
    ],
)
def test_what_stands_for_a_token_is_none(text: str) -> None:
    assert shown(text) == []


DOCUMENTS = [
    *("Faktura č. 2024110387", "Číslo objednávky 5580120034", "variabilní symbol 5580120034", "VS: 5580120034"),
    *("工单号：8830021947", "订单号 13812345678", "发票号码：13912345678", "单号 8830021947"),
    *("流水号8830021947", "会员号13912345678"),
    *("pedido 612345678", "N.º de pedido: 612345678", "Factura núm. 612345678", "albarán 612345678"),
    *("Bestellnummer 0301234567", "Rechnung Nr. 0301234567", "Kundennummer 0301234567", "Vertragsnr. 301234567"),
    *("commande n° 612345678", "Facture nº 612345678", "bon de livraison 612345678", "devis 0612345678"),
    *("ordine n. 3471234567", "Fattura 3471234567", "bolla 3471234567", "pratica 3471234567", "protocollo 3471234567"),
    *("encomenda 912345678", "fatura n.º 912345678", "chamado 912345678", "nota fiscal 912345678"),
    *("bestelnummer 612345678", "factuurnummer 612345678", "zaaknummer 612345678", "offerte 612345678"),
    *("zamówienie 601123456", "nr faktury 601123456", "zgłoszenie 601123456", "umowa 601123456"),
    *("заказ № 9123456789", "счёт-фактура 9123456789", "накладная 9123456789", "договор № 9123456789"),
    "трек-номер 9123456789",
    *("замовлення 671234567", "рахунок 671234567", "накладна 671234567", "поръчка 888123456"),
    *("beställning 701234567", "fakturanummer 701234567", "ordrenummer 32123456", "sagsnummer 32123456"),
    *("tilausnumero 401234567", "lasku 401234567", "tellimus 51234567", "arve 51234567", "pasūtījums 29123456"),
    *("užsakymas 61234567", "sąskaita 61234567", "megrendelés 301234567", "számla 301234567", "rendelésszám 301234567"),
    *("comanda nr. 722123456", "factură 722123456", "narudžba 912345678", "račun 912345678", "naročilo 31234567"),
    *("παραγγελία 6941234567", "τιμολόγιο 6941234567", "sipariş no 5321234567", "fatura no: 5321234567"),
    *("رقم الطلب 512345678", "فاتورة 512345678", "شماره سفارش 9123456789", "מספר הזמנה 521234567", "חשבונית 521234567"),
    *("ऑर्डर 9876543210", "चालान 9876543210", "đơn hàng 912345678", "hóa đơn 912345678", "pesanan 81234567890"),
    *("หมายเลขคำสั่งซื้อ 812345678", "ใบแจ้งหนี้ 812345678", "注文番号 0312345678", "請求書番号 0312345678"),
    *("주문번호 1012345678", "송장번호 1012345678", "invoice no. 4155552671", "ticket #4155552671", "case 4155552671"),
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_the_number_of_a_document_is_no_telephone(text: str) -> None:
    assert shown(f"{text}.") == []
    assert [kind for kind, _ in shown(f"tel. +420 601 123 456. {text}.")] == ["phone"]


@pytest.mark.parametrize(
    ("word", "number"),
    [
        *(("invoice", "111222333"), ("Rechnung Nr.", "86095742719"), ("zamówienie", "44051401458")),
        *(("commande", "111222333"), ("pedido", "111222333"), ("sipariş", "10000000146")),
    ],
)
def test_the_number_of_a_document_beside_a_word_for_an_id_is_no_id(word: str, number: str) -> None:
    assert shown(f"BSN, PESEL, TCKN in file; {word} {number}, thanks") == []


def test_an_id_stays_one_beside_a_document() -> None:
    assert shown("order 5580120034 for BSN 111222333") == [("national_id", "111222333")]
    assert shown("111222333 is the BSN on the invoice") == [("national_id", "111222333")]


def test_a_word_before_the_next_number_says_nothing_of_the_one_before() -> None:
    assert shown("Vorname 30123456, Tel. 0301234567") == [("phone", "0301234567")]


def test_a_number_within_a_document_s_number_is_none() -> None:
    assert shown("Faktura FV/2025/03/000123 na kwotę") == []

"""The words that speak for a number: what people of many languages call a telephone, and an id of a person.

A word counts whole, or by its first letters where languages inflect it. Languages that are written without spaces are
searched for the word itself. Compared in small letters and without the accents that people leave out.
"""

# ruff: noqa: RUF001 - words of other scripts, in their own letters

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

# Vowel signs of Indic scripts and of Thai are no letters for ``re``, and no word can be without.
_WORD: Final = re.compile(r"(?:[^\W\d_]|[\u0300-\u036F\u0900-\u0963\u0966-\u0DFF\u0E31-\u0EFF])+|[\uFDD0-\uFDEF]")
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
# iPhone is one word.
_HUMP: Final = re.compile(r"(?<=[a-z]{2})(?=[A-Z])")


class Words:
    """``whole`` words, ``stems`` that words begin with, and ``unspaced`` ones that stand within others."""

    def __init__(self, whole: str, stems: str, unspaced: str) -> None:
        self._whole = frozenset(map(_plain, whole.split()))
        self._stems = frozenset(map(_plain, stems.split()))
        self._lengths = sorted({len(stem) for stem in self._stems})
        self._unspaced = re.compile("|".join(map(_plain, unspaced.split())))

    def has(self, word: str) -> bool:
        """Whether ``word``, as it stands in a text, is one of these."""
        folded = _plain(word)
        return (
            folded in self._whole
            or any(folded[:length] in self._stems for length in self._lengths)
            or (not folded.isascii() and self._unspaced.search(folded) is not None)
        )


def _plain(word: str) -> str:
    """``word`` in small letters, without accents."""
    folded = word.casefold()
    return folded if folded.isascii() else _ACCENTS.sub("", unicodedata.normalize("NFD", folded))


def words_of(text: str) -> Iterator[str]:
    """The words of ``text`` in order; ``phoneNumber`` and ``phone_number`` are two."""
    for match in _WORD.finditer(text):
        word = match[0]
        if word.isascii() and not word.islower() and not word.isupper():
            yield from _HUMP.split(word)
        else:
            yield word


PHONE: Final = Words(
    (
        "tel tél tlf tfn tlph mob cell cel call ring rings phone phones mobile mobiles fax sms dial whatsapp "
        "viber appelez appeler appelle joignable portable portables gsm handy fon rufen ruf anrufen móvil movil "
        "fijo llámame llamame llámeme llamar llame llama celular celulares ligue ligar liga chiamami chiamare "
        "chiama chiamate cellulare fisso bel bellen mobiel ringa mobil mobiltelefon puh puhelin soita dzwoń "
        "dzwonić zadzwoń kom komórka тел моб звоните позвоните звони позвони мобильный номер дзвоніть τηλ κιν ara "
        "arayın arayınız arayin sunați sunati suna hívjon hívj volejte zavolejte volat telp hubungi gọi sđt đt "
        "điện simu piga phon هاتف جوال موبايل تلفون اتصل واتساب تلفن موبایل تماس טלפון נייד פלאפון התקשרו फ़ोन "
        "फोन मोबाइल कॉल दूरभाष নম্বর ফোন মোবাইল landline switchboard hotline helpline "
        "callback calling dialed dialled dialing texted texting textme ringe ringer ringede ringet ringte ringt "
        "ringes ringde ringas "
        "smsa smsade smse lur luren hringdu hringja hringið hringið hringdi siminn símanúmer síminn síma farsími "
        "gebeld belt terugbellen mobiele appen joindre joignez joint rappeler rappelez rappelle rappelez-moi texto "
        "llamaron llamada llamadas llamarme llamadme wasap guasap wsp truca trucar truqueu trucam mòbil mobil zap "
        "zapzap liguei ligou liguem contacte squillo smsa mobilu mobile volal volala volajte volám volejte klicat "
        "kličite klicala javi javite javiti zovi zovite zvati apela sună mobilul mobilului cebim cep cepten cebi "
        "zəng hp ponsel handphone skakel nipigie qoʻngʻiroq смс мобила трубка јави јавете јавите јавити زنگ کال "
        "فون پیامک همراه رابطہ موبائل محمول المحمول جوالي كلمني اتصلوا للاتصال কল ఫోన్ కాల్ మొబైల్ ફોન મોબાઇલ કૉલ "
        "ਫੋਨ ਮੋਬਾਈਲ ಫೋನ್ ಕರೆ ಮೊಬೈಲ್ ഫോൺ മൊബൈൽ व्हाट्सएप व्हाट्सऐप alo zalo landlines ph mobiltel deitu chámame"
    ),
    (
        "kontakt contact contatt contato telef telep tele-f телеф τηλέφ τηλεφ κινητ phone mobilnu mobiln mobilt "
        "mobitel puhelin puhnum handynum rufnum numarasın numaram hotlin fastnett kontaktnum komórk komork "
        "whatsapp liên điệ nhắn portatil cellul الهات هات جوال وجوال تلف טלפ "
        "mobilens mobiltel soitta soitel soita soitt puhel kännyk tekstivie erreichb rückruf zurückruf angeruf anruf "
        "durchwahl mobilfunk festnetz handyn bereikba terugbel rappele richiam chiamat chiamam chiamarm chiamarc "
        "llámam llámem llámen llámano telemóv telemov apelat apeleaz sunaț dzwon zadzwon oddzwo dodzwon przedzwon "
        "infolini zavol dovol prozvo pokliči poklici nazovi nazovit pozovi pozvat hívj hívn hívás felhív visszahív "
        "mobilsz helist mobiil zvani piezvan tālru skamb paskamb thirr arayab zəng panggil telpon telfon tawag "
        "tumawag kontak nipig pigi звон позвон перезвон созвон дозвон набери набир мобил сотов ватсап вотсап дзвон "
        "подзвон передзвон зателеф мобіл тэлеф патэлеф званіц пазван мабіл позови назови позват обад обажд позвън "
        "ѕвон повик καλέσ καλέστ κλήσ დამირეკ დარეკ ტელეფონ მობილურ զանգ հեռախոս բջջ қоңырау хабарлас اتصا الاتصا "
        "الجوا المحمو واتس موبایل תתקשר התקשר להתקשר חייג לחייג סלולר ווטסאפ וואטסאפ אתקשר அழை தொலைபேசி கைபேசி "
        "மொபைல் போன் വിളിക്ക হোয়াটস"
    ),
    "电话 電話 手机 手機 携帯 座机 热线 联系方式 联系电话 致电 拨打 ケータイ スマホ 回拨 回撥 打我 打给 打給 联系我 "
    "聯絡 聯繫 致電 撥打 行動 連絡先 ご連絡 折り返し 전화 연락 휴대폰 휴대전화 핸드폰 연락처 "
    "โทร เบอร์ มือถือ",
)
# What numbers are called that are none of a person.
OTHER_NUMBER: Final = Words(
    (
        "order orders isbn issn tracking invoice version build port sku ticket amount total qty quantity price "
        "ref booking reservation flight commande colis facture pedido pedidos factura fattura ordine ordini "
        "bestelling zamówienie zamówienia заказ заказа заказу заказом счёт счет трек sipariş siparişi kargo "
        "fatura order_id id ids uuid pid epoch timestamp bytes size offset line lines row rows commit hash parcel "
        "package shipment encomenda nota beställning tilaus ordre bestilling objednávka comanda rendelés payment "
        "certificate zip postal ein vat ssn reference referenz référence dossier protocolo cnpj artikel артикул "
        "партия part serial postcode plz model article item case vorgang lot batch rev revision kit set"
    ),
    "bestell auftrag rechnung sendung order paket rastre seguim numérod",
    "订单 訂單 运单 快递 注文 伝票 주문 송장 발급 ออเดอร์",
)
# What numbers of documents are called: right before digits they speak against a telephone and against an id.
DOCUMENT: Final = Words(
    (
        "order orders invoice invoices ticket tickets booking tracking quote rma po commande commandes facture "
        "factures "
        "devis livraison colis bordereau pedido pedidos factura facturas albarán albaran remito presupuesto "
        "expediente "
        "encomenda encomendas fatura faturas chamado boleto orçamento processo ordine ordini fattura fatture bolla "
        "pratica preventivo protocollo protocolo ddt bestelling bestelnummer factuur offerte zaak pakbon zakázka "
        "zakázky "
        "faktura faktury faktúra faktúry objednávka objednávky vs symbol účtenka smlouva zmluva zamówienie zamówienia "
        "zgłoszenie zgłoszenia umowa umowy paragon заказ заказа заказу договор договора накладная накладной квитанция "
        "замовлення рахунок рахунку накладна накладної квитанція договір поръчка поръчката фактура фактурата нарачка "
        "наруџба рачун beställning beställningen ordre ordrer ordren sag sagen sak saken bestilling bestillingen "
        "kvittering "
        "tilaus lasku laskun tellimus arve arvenumber pasūtījums pasūtījuma rēķins rēķina užsakymas užsakymo sąskaita "
        "sąskaitos megrendelés megrendelési rendelés rendelésszám számla számlaszám számlája comandă comanda comenzii "
        "factură facturii aviz narudžba narudžbe narudžbina račun računa predračun naročilo naročila παραγγελία "
        "παραγγελίας τιμολόγιο τιμολογίου απόδειξη porosi porosia porosisë sipariş siparişi siparişim fatura faturası "
        "irsaliye sifariş pöntun pöntunar reikningur reikning طلب الطلب طلبية فاتورة الفاتورة شحنة سفارش فاکتور آرڈر "
        "انوائس הזמנה ההזמנה חשבונית קבלה פנייה ऑर्डर चालान बिल इनवॉइस টিকিট অর্ডার চালান ஆர்டர் ఆర్డర్ pesanan "
        "faktur "
        "resi tiket pemesanan invois agizo ankara đơn hóa hoá vé"
    ),
    (
        "bestellnum bestellnr auftrag rechnung kundennum kundennr vertragsn vorgangsn lieferschein angebotsn ticketn "
        "factuurn ordern zaakn klantn fakturan ordren sagsn saksn ärenden kundn ordrenum tilausn laskun objednáv "
        "zákaznick "
        "variabiln zamówien zgłoszen счёт счет накладн замовл рахунк накладн поръчк užsakym sąskait pasūtīj rendelés "
        "megrendel numérod"
    ),
    "订单 訂單 工单 工單 发票 發票 单号 單號 流水号 流水號 运单 運單 合同 编号 編號 会员号 會員號 账号 賬號 注文 "
    "請求書 伝票 領収書 受付番号 주문 송장 "
    "청구서 접수번호 คำสั่งซื้อ ใบแจ้งหนี้ ใบเสร็จ ออเดอร์",
)
# What any number is called: of a telephone only where no document goes before, as in трек-номер.
ANY_NUMBER: Final = Words("номер номера номером нөмірі নম্বর", "numarasın numaram", "番号")
ID: Final = Words(
    (
        "dni nif nie nir cpf cnp pesel bsn nhs sin tfn ird rut curp cuil cuit egn oib emšo emso jmbg pps ppsn ahv "
        "avs amka tckn aadhaar aadhar uidai insee nss svnr svn personnummer personnr cpr fødselsnummer "
        "fodselsnummer hetu henkilötunnus isikukood asmens kods rrn nrc ssn nino cccd cmnd cni nik ktp mykad nric "
        "ahvn niss inss іпн sv rodné rodne rijksregisternummer burgerservicenummer sofinummer codice fiscale "
        "steuer kimlik kimliği tc t.c інн иин снилс рнокпп teudat zehut תז זהות आधार आधारकार्ड αμκα егн "
        "rijksregister medicare identity identification identificación identificação identificazione "
        "identificatie cédula cedula nit dui kennitala snils"
    ),
    (
        "personalausw identifikation identifikasjon identit identyf ausweis steuerid steueridentif steuernum "
        "sozialvers burgerserv rijksreg personnum personbet fødselsn fodselsn henkilötun henkilotun isikukood "
        "asmens personas personal_id rodné rodného kimli nationaln nationalid national personenk szemelyi "
        "személyi adóazon ciudadan contribuin titular social citizen هوية הזהות αδτ आधार паспорт инн снилс "
        "пенсион податк идентиф"
    ),
    "身份证 身分證 身份證 公民 マイナンバー 個人番号 個人識別番号 주민등록 주민번호 외국인등록 บัตรประชาชน เลขประจำตัว",
)
CARD: Final = Words(
    (
        "card cards visa mastercard maestro amex pan carte cartes tarjeta tarjetas cartão cartao carta kaart "
        "karte kreditkarte karta kartą karty kartu kort kortet kortti kártya card_number credit debit cc diners "
        "jcb unionpay mir карта карты картой карту карте мир kart kartım κάρτα بطاقة بطاقتي البطاقة כרטיס कार्ड "
        "thẻ"
    ),
    "kreditk karten kortn kartın kartim cardn bankkart",
    "银行卡 信用卡 卡号 カード 카드 บัตร",
)

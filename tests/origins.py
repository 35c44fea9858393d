"""Web origins as browsers write them (RFC 6454 6.2), and texts that are none."""

ORIGINS = (
    "*", "https://app.example", "https://other.example", "http://localhost:3000", "http://127.0.0.1:8080",
    "http://[::1]:8080", "https://a-b.c_d", "http://app.example:443", "capacitor://localhost",
    "chrome-extension://abcdefghijklmnop",
)  # fmt: skip
NO_ORIGINS = (
    "app.example", "https://app.example/", "https://app.example/path", "https://App.example", "HTTPS://app.example",
    "https://app.example?", "https://user@app.example", "https://", "https://*.example", "**", "null",
    "https://app.example:", "https://app.example:443", "http://app.example:80", "https://app.example https://b.example",
    "https://\u00fc.example", "https://app.example:123456",
)  # fmt: skip

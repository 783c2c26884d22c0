"""Units of measure behind a number, each in one form."""

import re

_UNITS = {
    "ms": "ms millisecond milliseconds 밀리초",
    "s": "s sec secs second seconds sekunde sekunden seconde secondes segundos 초 秒",
    "min": "min mins minute minutes minuten minutos 분 分 分钟 分鐘",
    "h": "h hr hrs hour hours stunde stunden heure heures horas 시간 時間 时间 小时 小時",
    "day": "day days tag tage tagen jour jours días 日間 天",
    "week": "week weeks woche wochen semaine semaines semanas 주 週間 周",
    "month": "month months monat monate monaten mois meses 개월 か月 ヶ月 个月 個月",
    "mm": "mm millimetre millimetres millimeter millimeters 밀리미터",
    "cm": "cm centimetre centimetres centimeter centimeters 센티미터",
    "m": "m metre metres meter meters 미터 メ\u30fcトル 米",
    "km": "km kilometre kilometres kilometer kilometers 킬로미터 キロメ\u30fcトル 公里 千米",
    "ft": "ft foot feet",
    "mi": "mi mile miles",
    "mg": "mg milligram milligrams",
    "g": "g gram grams gramme grammes 그램 グラム",
    "kg": "kg kilo kilos kilogram kilograms 킬로그램 キログラム 公斤",
    "t": "ton tons tonne tonnes 톤 トン 吨",
    "l": "l litre litres liter liters 리터 リットル",
    "%": "% percent percentage prozent procent 퍼센트 パ\u30fcセント",
    "\u00b0": "\u00b0 degree degrees grad 도 度",
    "\u00b0C": "\u00b0c \u2103 celsius",
    "\u00b0F": "\u00b0f \u2109 fahrenheit",
    "kB": "kb kilobyte kilobytes",
    "MB": "mb mib megabyte megabytes",
    "GB": "gb gib gigabyte gigabytes",
    "TB": "tb tib terabyte terabytes",
    "W": "w watt watts",
    "kW": "kw kilowatt kilowatts",
    "MW": "mw megawatt megawatts",
    "kWh": "kwh",
    "Hz": "hz hertz",
    "kHz": "khz",
    "MHz": "mhz",
    "GHz": "ghz",
    "mph": "mph",
    "km/h": "km/h kph kmh",
    "rpm": "rpm",
    "$": "$ dollar dollars usd 달러 ドル 美元",
    "\u20ac": "\u20ac euro euros eur 유로 ユ\u30fcロ 欧元",
    "\u00a3": "\u00a3 gbp",
    "\u00a5": "\u00a5 yen jpy 円",
    "\u20a9": "\u20a9 won krw 원",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_HALVES = {"\u00b0": {"\u00b0C", "\u00b0F"}}
"""Units that say less, with those that say the same more exactly."""

_BEHIND = re.compile(
    r"[ -]?(\u00b0 ?[CF]?|[%$\u20ac\u00a3\u00a5\u20a9]|per ?cent|[^\W\d_]{1,13}(?:/h)?)"
)
_EASTERN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_CURRENCY = "$\u20ac\u00a3\u00a5\u20a9"


def unit_before(text: str, place: int) -> str | None:
    """Return the currency that stands before a number."""
    sign = text[max(0, place - 1) : place]
    return sign if sign and sign in _CURRENCY else None


def unit_behind(text: str, place: int) -> tuple[str | None, int]:
    """Return the unit that begins at a place, behind a number, and where it ends."""
    found = _BEHIND.match(text, place)
    if found is None:
        return None, place
    word = found[1].lower()
    if _EASTERN.match(word):
        length = next((end for end in range(len(word), 0, -1) if word[:end] in _UNIT_OF), 0)
        word = word[:length]
    unit = _UNIT_OF.get(word.replace(" ", ""))
    return unit, found.start(1) + len(word) if unit else place


def agree(one: str | None, other: str | None) -> bool:
    """Return whether two units may be the same; None is any."""
    return (
        one is None
        or other is None
        or one == other
        or other in _HALVES.get(one, ())
        or one in _HALVES.get(other, ())
    )

import pytest

from kebab.core.documents import Block, BlockKind
from kebab.text.language import detect_document_language, detect_language


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("쿠버네티스 API 서버는 kube-apiserver 컴포넌트가 제공한다.", "ko"),
        ("この文書は API の使い方を説明する。", "ja"),
        ("这份文件用于说明 API 的用法。", "zh"),
        ("Это обычный русский текст.", "ru"),
        ("Це звичайний український текст.", "uk"),
        ("هذا نص عربي عادي", "ar"),
        ("این یک متن فارسی است که چیزی می‌گوید", "fa"),
        ("นี่คือข้อความภาษาไทย", "th"),
        ("यह एक हिंदी वाक्य है", "hi"),
        ("Αυτό είναι ένα κείμενο", "el"),
        ("זה טקסט בעברית", "he"),
        ("The cache is emptied when the revision of the index changes, and not before.", "en"),
        ("Der Speicher wird geleert, wenn sich die Fassung des Verzeichnisses ändert.", "de"),
        ("Le cache est vidé quand la révision de l'index change, et pas avant.", "fr"),
        (
            "La memoria se vacía cuando cambia la revisión del índice, y no antes, por la noche.",
            "es",
        ),
        ("kubectl get pods nginx redis postgres", None),
        ("1234 5678", None),
        ("", None),
    ],
)
def test_languages_are_detected_by_script_and_stop_words(text, lang):
    assert detect_language(text) == lang


def test_only_prose_counts():
    text = "설명이다.\n\n" + "int the_of and_to;\n" * 40
    blocks = [Block(BlockKind.PARAGRAPH, 0, 5), Block(BlockKind.CODE, 7, len(text))]
    assert detect_document_language(text, blocks) == "ko"


def test_addresses_and_markup_are_no_evidence():
    text = "짧은 글 <https://example.invalid/the/of/and/to/in> `the of and to in is`"
    assert detect_document_language(text, [Block(BlockKind.PARAGRAPH, 0, len(text))]) == "ko"

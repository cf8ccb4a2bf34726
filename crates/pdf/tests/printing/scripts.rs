use attestry_domain::content::Block;

use crate::build::{code, document, heading, paragraph, row};
use crate::read::File;

/// One sentence per script that must be printed correctly.
const SENTENCES: [&str; 27] = [
    "Zażółć gęślą jaźń, Þórr, œuvre, ĳs, Straße, ÅÄÖ",
    "Ελληνικά: Ξεσκεπάζω την ψυχοφθόρα βδελυγμία",
    "Русский, Українська ґанок, Српски љубав, Қазақша",
    "Tiếng Việt: Chính sách bảo mật thông tin",
    "العربية: سياسة أمن المعلومات ۱۲۳",
    "فارسی: سیاست امنیت اطلاعات، گچ پژ",
    "עברית: מדיניות אבטחת מידע",
    "हिन्दी: सूचना सुरक्षा नीति",
    "বাংলা: তথ্য নিরাপত্তা নীতি",
    "தமிழ்: தகவல் பாதுகாப்பு கொள்கை",
    "తెలుగు: సమాచార భద్రతా విధానం",
    "ಕನ್ನಡ: ಮಾಹಿತಿ ಭದ್ರತಾ ನೀತಿ",
    "മലയാളം: വിവര സുരക്ഷാ നയം",
    "ગુજરાતી: માહિતી સુરક્ષા નીતિ",
    "ਪੰਜਾਬੀ: ਸੂਚਨਾ ਸੁਰੱਖਿਆ ਨੀਤੀ",
    "සිංහල: තොරතුරු ආරක්ෂණ ප්‍රතිපත්තිය",
    "ภาษาไทย: นโยบายความมั่นคงปลอดภัยสารสนเทศ",
    "ລາວ: ນະໂຍບາຍຄວາມປອດໄພ",
    "ខ្មែរ: គោលនយោបាយសុវត្ថិភាព",
    "မြန်မာ: သတင်းအချက်အလက်",
    "አማርኛ: የመረጃ ደህንነት ፖሊሲ",
    "ქართული: ინფორმაციული უსაფრთხოება ᲐᲑ",
    "Հայերեն: տեղեկատվական անվտանգություն",
    "中文：信息安全政策，資訊安全政策。「引號」",
    "日本語：情報セキュリティ方針、カタカナ・ひらがな",
    "한국어: 정보 보안 정책 뷁 \u{1112}\u{1161}\u{11ab}",
    "→ ← ↑ ↓ ⇒ ↔ ✓ ✔ ✗ ✘ ☐ ☑ ☒ ⚠ ★ ☆ ● ○ ■ □ ▲ ≤ ≥ ≠ ± × ÷ ∞ √ ∑ € £ ¥ ₹ ₿ © ® ™ § ¶ № ½ ① … ‰ ─ │ ┌ █",
];

#[test]
fn every_script_is_covered() {
    let mut blocks: Vec<_> = SENTENCES.iter().map(|sentence| paragraph(sentence)).collect();
    blocks.extend(SENTENCES.iter().map(|sentence| heading(2, sentence)));
    blocks.push(code(&SENTENCES.join("\n")));
    let pdf = attestry_pdf::policy(&document(blocks)).unwrap();
    assert!(pdf.missing.is_empty(), "no font has {:?}", pdf.missing);
    let file = File::new(&pdf);
    // Text in scripts without ligatures or reordering can be extracted verbatim.
    for number in [0, 1, 2, 3, 20, 21, 22, 23, 24, 26] {
        file.assert_has(SENTENCES[number]);
    }
}

#[test]
fn emoji_are_covered() {
    let pdf =
        attestry_pdf::policy(&document(vec![paragraph("🔒 👍 🎉 ❤\u{fe0f} 👩\u{200d}💻 🇪🇺 🚨 🫡")])).unwrap();
    assert!(pdf.missing.is_empty(), "no font has {:?}", pdf.missing);
}

#[test]
fn what_no_font_has_is_reported_and_replaced() {
    let text = "gothic 𐌰𐌱, private \u{e000}, none \u{10ffff}";
    let blocks = vec![paragraph(text), Block::Table { head: None, rows: vec![row(&["𐌰"])] }];
    let mut document = document(blocks);
    document.title = "Runes 𐎀".into();
    let pdf = attestry_pdf::policy(&document).unwrap();
    assert_eq!(pdf.missing, ['\u{e000}', '𐌰', '𐌱', '𐎀', '\u{10ffff}']);
    File::new(&pdf).assert_has("gothic \u{fffd}\u{fffd}, private \u{fffd}, none \u{fffd}");
}

#[test]
fn a_combination_that_no_font_has_is_reported_and_replaced() {
    let pdf = attestry_pdf::policy(&document(vec![paragraph("key 1\u{fe0f}\u{20e3} of 11")])).unwrap();
    assert_eq!(pdf.missing, ['\u{20e3}']);
    File::new(&pdf).assert_has("key 1\u{fffd} of 11");
}

#[test]
fn right_to_left_text_begins_at_the_right() {
    let left = attestry_pdf::policy(&document(vec![paragraph("abc")])).unwrap();
    let right = attestry_pdf::policy(&document(vec![paragraph("אבג")])).unwrap();
    let (left, right) = (File::new(&left).start_of_text(2), File::new(&right).start_of_text(2));
    assert!(left < 100.0 && right > 450.0, "{left} {right}");
}

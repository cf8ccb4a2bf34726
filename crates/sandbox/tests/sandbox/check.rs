//! Checks of a source.

use crate::common::{limits, sandbox};
use attestry_sandbox::Mistake;

#[tokio::test]
async fn a_source_is_checked_and_not_run() {
    let sandbox = sandbox(limits());
    for source in [
        "export default async function (ctx) { return { status: 'pass', summary: '' } }",
        "for (;;); export default 1",
        "await new Promise(() => {}); export { x as default }; const x = 1;",
        "throw new Error('not thrown'); export default () => 1",
    ] {
        assert_eq!(sandbox.check(source).await.unwrap(), Ok(()), "{source}");
    }
}

#[tokio::test]
async fn mistakes_have_a_place_in_characters() {
    let sandbox = sandbox(limits());
    let found = |source: &'static str| {
        let sandbox = sandbox.clone();
        async move { sandbox.check(source).await.unwrap().expect_err(source) }
    };
    let place = |mistake: &Mistake| mistake.line.zip(mistake.column);

    let mistake = found("const é = '😀'; let x = ;").await;
    assert_eq!(mistake.message, "SyntaxError: unexpected token in expression: ';'");
    assert_eq!(place(&mistake), Some((1, 24)));

    let mistake = found("const a = 1;\n\n  const a = 2;\n").await;
    assert_eq!(mistake.line, Some(3), "{mistake:?}");

    let mistake = found("export default () => {").await;
    assert!(mistake.message.starts_with("SyntaxError: "), "{mistake:?}");
    assert_eq!(mistake.line, Some(1), "{mistake:?}");

    let mistake = found("a\0").await;
    assert_eq!(place(&mistake), Some((1, 2)));

    for source in ["", "export const a = 1;", "const x = 1;"] {
        let mistake = found(source).await;
        assert!(
            mistake.message.starts_with("The script must export a function as its default"),
            "{mistake:?}"
        );
        assert_eq!(place(&mistake), None);
    }

    let mistake = found("import fs from 'fs'; export default () => 1").await;
    assert!(mistake.message.starts_with("A script cannot import other modules"), "{mistake:?}");
}

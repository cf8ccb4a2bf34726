//! The key is sent and appears nowhere else.

use std::fmt::Debug;

use attestry_ai::fake::{KEY, Reply};

use crate::{KINDS, meet, question, read};

/// Asserts that the text contains neither the key nor a long part of it.
fn hides_key(text: &str) {
    for part in [KEY, &KEY[..12], &KEY[KEY.len() - 12..]] {
        assert!(!text.contains(part), "{text}");
    }
}

fn hidden(value: &(impl Debug + ?Sized)) {
    hides_key(&format!("{value:?} {value:#?}"));
}

#[tokio::test]
async fn no_debug_output_holds_the_key() {
    for kind in KINDS {
        let (fake, provider) = meet(kind, [Reply::text(["yes"])]).await;
        hidden(&provider);
        hidden(&fake.settings().expect("settings"));
        let mut answer = provider.ask(&question()).await.expect("an answer");
        hidden(&answer);
        read(&mut answer).await;
        hidden(&answer);
    }
}

#[tokio::test]
async fn no_failure_holds_the_key() {
    let masked = format!("{}*******{}", &KEY[..7], &KEY[KEY.len() - 4..]);
    for kind in KINDS {
        for told in
            [format!("Incorrect API key provided: {KEY}."), format!("Incorrect API key provided: {masked}.")]
        {
            let body = format!(r#"{{"error":{{"message":"{told}","type":"{KEY}","code":"{KEY}"}}}}"#);
            for reply in [
                Reply::status(401, body.clone()),
                Reply::status(429, body.clone()).header("retry-after", "0"),
                Reply::status(500, body),
                Reply::page(403, told.clone()),
                Reply::stream().errs(KEY, &told),
                Reply::stream().begins().says("a").errs("overloaded_error", &told),
                Reply::stream().raw(format!("data: {KEY}\n\n")),
            ] {
                let (_fake, provider) = meet(kind, [reply]).await;
                let failure = match provider.ask(&question()).await {
                    Err(failure) => failure,
                    Ok(mut answer) => read(&mut answer).await.1.expect("a failure"),
                };
                hidden(&failure);
                let sentence = failure.to_string();
                hides_key(&sentence);
                assert!(!sentence.contains(&masked), "{sentence}");
            }
        }
    }
}

//! The messages people get, in plain text and HTML, made from one description.

use attestry_domain::users::User;
use attestry_mail::Message;

use crate::context::Ctx;

struct Letter<'a> {
    subject: String,
    paragraphs: Vec<String>,
    action: &'a str,
    link: &'a str,
    closing: String,
}

pub(crate) fn invitation(ctx: &Ctx, to: &User, organization: &str, link: &str) -> Message {
    let days = ctx.settings.invitation_lifetime.as_secs() / 86_400;
    compose(
        ctx,
        to,
        &Letter {
            subject: format!("Join {organization} on Attestry"),
            paragraphs: vec![format!(
                "You have been invited to join {organization}, which keeps its compliance work in Attestry."
            )],
            action: "Accept the invitation",
            link,
            closing: format!(
                "The link can be used once and expires in {days} days. If you were not expecting it, ignore this message."
            ),
        },
    )
}

pub(crate) fn reset(ctx: &Ctx, to: &User, link: &str) -> Message {
    let minutes = ctx.settings.reset_lifetime.as_secs() / 60;
    compose(
        ctx,
        to,
        &Letter {
            subject: "Choose a new password".to_owned(),
            paragraphs: vec![
                "Someone (probably you) asked for a new password for your Attestry account.".to_owned(),
            ],
            action: "Choose a new password",
            link,
            closing: format!(
                "The link can be used once and expires in {minutes} minutes. If it was not you, ignore this message; your password stays the same."
            ),
        },
    )
}

/// Some lines of a message under their heading.
pub(crate) struct Told {
    pub(crate) heading: String,
    pub(crate) lines: Vec<String>,
}

/// A notice or a digest, with the link that ends such messages.
pub(crate) fn notice(
    ctx: &Ctx,
    to: &User,
    organization: &str,
    subject: &str,
    told: Vec<Told>,
    unsubscribe: &str,
) -> Message {
    let part = |Told { heading, lines }: Told| format!("{heading}:\n{}", lines.join("\n"));
    let paragraphs = told.into_iter().map(part).collect();
    let link = ctx.link("/");
    let letter = Letter {
        // A subject is one line of a bearable length.
        subject: subject.chars().filter(|c| !c.is_control()).take(200).collect(),
        paragraphs,
        action: "Open Attestry",
        link: &link,
        closing: format!(
            "You get this message as a member of {organization}. To stop messages of this kind: {unsubscribe}"
        ),
    };
    compose(ctx, to, &letter)
}

fn compose(ctx: &Ctx, to: &User, letter: &Letter<'_>) -> Message {
    let Letter { subject, paragraphs, action, link, closing } = letter;
    let greeting = format!("Hello {},", to.name);
    let text = format!("{greeting}\n\n{}\n\n{action}:\n{link}\n\n{closing}\n", paragraphs.join("\n\n"));
    let body = escape(&paragraphs.join("\n\n")).replace("\n\n", "</p><p>").replace('\n', "<br>");
    let html = format!(
        "<!doctype html><html><body style=\"font-family:sans-serif;line-height:1.5;color:#1a1a1a;max-width:36rem\">\
         <p>{}</p><p>{body}</p><p><a href=\"{}\" style=\"display:inline-block;padding:.6rem 1rem;background:#1f5f4a;\
         color:#fff;text-decoration:none;border-radius:.3rem\">{action}</a></p>\
         <p style=\"color:#555\">{}</p></body></html>",
        escape(&greeting),
        escape(link),
        escape(closing)
    );
    Message {
        id: ctx.ids.next::<attestry_domain::id::kind::Message>().to_string(),
        to_name: to.name.clone(),
        to_address: to.email.clone(),
        subject: subject.clone(),
        text,
        html,
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

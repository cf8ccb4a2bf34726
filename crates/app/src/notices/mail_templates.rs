//! Mail templates, rendered as plain text and as HTML from one description.

use attestry_domain::Time;
use attestry_domain::date::Date;
use attestry_domain::id::MemberId;
use attestry_domain::identity::users::User;
use attestry_domain::portals::PortalPost;
use attestry_domain::text::html;
use attestry_mail::Message;

use crate::core::context::Ctx;

/// The recipient of a mail.
#[derive(Clone, Debug)]
pub(crate) struct To {
    /// Empty when only the address is known.
    pub(crate) name: String,
    pub(crate) email: String,
}

impl To {
    pub(crate) fn address(email: &str) -> Self {
        Self { name: String::new(), email: email.to_owned() }
    }
}

impl From<&User> for To {
    fn from(user: &User) -> Self {
        Self { name: user.name.clone(), email: user.email.clone() }
    }
}

#[derive(Default)]
struct MailTemplate<'a> {
    /// The organization that sends it; empty for mails of the product itself.
    organization: &'a str,
    subject: String,
    paragraphs: Vec<String>,
    action: &'a str,
    link: &'a str,
    closing: String,
    /// The link to unsubscribe from mails of this kind.
    unsubscribe: Option<&'a str>,
}

pub(crate) fn invitation(ctx: &Ctx, to: &User, organization: &str, link: &str) -> Message {
    let days = ctx.settings.invitation_lifetime.as_secs() / 86_400;
    compose(
        ctx,
        &to.into(),
        &MailTemplate {
            organization,
            subject: format!("Join {organization} on Attestry"),
            paragraphs: vec![format!(
                "You have been invited to join {organization}, which keeps its compliance work in Attestry."
            )],
            action: "Accept the invitation",
            link,
            closing: format!(
                "The link can be used once and expires in {days} days. If you were not expecting it, ignore this message."
            ),
            ..MailTemplate::default()
        },
    )
}

pub(crate) fn reset(ctx: &Ctx, to: &User, link: &str) -> Message {
    let minutes = ctx.settings.reset_lifetime.as_secs() / 60;
    compose(
        ctx,
        &to.into(),
        &MailTemplate {
            subject: "Choose a new password".to_owned(),
            paragraphs: vec![
                "Someone (probably you) asked for a new password for your Attestry account.".to_owned(),
            ],
            action: "Choose a new password",
            link,
            closing: format!(
                "The link can be used once and expires in {minutes} minutes. If it was not you, ignore this message; your password stays the same."
            ),
            ..MailTemplate::default()
        },
    )
}

/// The topic of a message that cannot be unsubscribed from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    /// How the user signs in.
    Account,
    /// How people sign in to the user's organization.
    SignIn,
    /// An API key that acts as the user.
    Key,
    ServiceAccounts,
    /// The records of a member who left.
    Released(MemberId),
}

impl Topic {
    /// The page that the message leads to, the text of the link, and the last sentence.
    fn parts(self) -> (String, &'static str, &'static str) {
        const OWNER: &str = "You get this message because you are an owner of the organization.";
        let (path, action, closing) = match self {
            Self::Account => (
                "/settings/account",
                "Look at your account",
                "If it was not you, change your password now, and tell an administrator of your organization.",
            ),
            Self::SignIn => ("/settings/security", "Look at the settings", OWNER),
            Self::Key => {
                ("/settings/keys", "Look at the keys", "You get this message because the key acts as you.")
            }
            Self::ServiceAccounts => ("/settings/service-accounts", "Look at the service accounts", OWNER),
            Self::Released(member) => return (format!("/people?open={member}"), "Hand them over", OWNER),
        };
        (path.to_owned(), action, closing)
    }
}

/// Tells a user about a change or about something to do. It cannot be unsubscribed from.
pub(crate) fn tell(ctx: &Ctx, to: &User, topic: Topic, subject: &str, message: &str) -> Message {
    let (path, action, closing) = topic.parts();
    let letter = MailTemplate {
        subject: subject.to_owned(),
        paragraphs: vec![message.to_owned()],
        action,
        link: &ctx.link(&path),
        closing: closing.to_owned(),
        ..MailTemplate::default()
    };
    compose(ctx, &to.into(), &letter)
}

/// Asks a member without a second factor to set one up.
pub(crate) fn mfa_required(ctx: &Ctx, to: &User, organization: &str, from: Time) -> Message {
    let link = ctx.link("/settings/account");
    let letter = MailTemplate {
        organization,
        subject: format!("{organization} requires a second factor"),
        paragraphs: vec![format!(
            "{organization} requires a second factor at sign-in from {} (UTC). Your account has none yet: add an authenticator app or a passkey.",
            Date::of(from)
        )],
        action: "Set it up",
        link: &link,
        closing: "Without one you can sign in after that day, but see nothing of the organization until you have set it up.".to_owned(),
        ..MailTemplate::default()
    };
    compose(ctx, &to.into(), &letter)
}

/// A section of a mail: lines under a heading.
pub(crate) struct MailSection {
    pub(crate) heading: String,
    pub(crate) lines: Vec<String>,
}

/// A notice or a digest, with a link to unsubscribe.
pub(crate) fn notice(
    ctx: &Ctx,
    to: &User,
    organization: &str,
    subject: &str,
    told: Vec<MailSection>,
    unsubscribe: &str,
) -> Message {
    let part = |MailSection { heading, lines }: MailSection| format!("{heading}:\n{}", lines.join("\n"));
    let paragraphs = told.into_iter().map(part).collect();
    let link = ctx.link("/");
    let letter = MailTemplate {
        organization,
        subject: subject.to_owned(),
        paragraphs,
        action: "Open Attestry",
        link: &link,
        closing: format!(
            "You get this message as a member of {organization}. To stop messages of this kind: {unsubscribe}"
        ),
        unsubscribe: Some(unsubscribe),
    };
    compose(ctx, &to.into(), &letter)
}

/// Asks the requester to sign the agreement after the request for access was approved.
pub(crate) fn agreement(ctx: &Ctx, to: &To, organization: &str, until: Time, link: &str) -> Message {
    let letter = MailTemplate {
        organization,
        subject: format!("Your access to the documents of {organization}"),
        paragraphs: vec![format!(
            "{organization} has approved your request. Please read and sign its non-disclosure agreement. You can read the documents as soon as you have signed."
        )],
        action: "Read and sign the agreement",
        link,
        closing: format!(
            "The link is personal and works until {} (UTC). If you did not request access, ignore this message.",
            Date::of(until)
        ),
        ..MailTemplate::default()
    };
    compose(ctx, to, &letter)
}

/// A link to the documents that the recipient has access to.
pub(crate) fn access(ctx: &Ctx, to: &To, organization: &str, until: Time, link: &str) -> Message {
    let letter = MailTemplate {
        organization,
        subject: format!("The documents of {organization}"),
        paragraphs: vec![format!(
            "You can read the policies and certificates of {organization} until {} (UTC). Every page you download carries your name and e-mail address.",
            Date::of(until)
        )],
        action: "Open the documents",
        link,
        closing: "The link is personal: anybody who has it can read the documents in your name. If you did not ask for it, ignore this message.".to_owned(),
        ..MailTemplate::default()
    };
    compose(ctx, to, &letter)
}

/// The denial of a request for access, with the reason.
pub(crate) fn denial(ctx: &Ctx, to: &To, organization: &str, reason: &str, link: &str) -> Message {
    let letter = MailTemplate {
        organization,
        subject: format!("Your request to {organization}"),
        paragraphs: vec![
            format!("{organization} has not approved your request for access to its documents."),
            format!("The reason given:\n{reason}"),
        ],
        action: "Open the portal",
        link,
        closing: "If you think this is a mistake, get in touch with your contact there.".to_owned(),
        ..MailTemplate::default()
    };
    compose(ctx, to, &letter)
}

/// Asks the owner of an address to confirm a subscription.
pub(crate) fn confirmation(ctx: &Ctx, to: &To, organization: &str, link: &str, leave: &str) -> Message {
    let letter = MailTemplate {
        organization,
        subject: format!("Confirm your subscription to {organization}"),
        paragraphs: vec![format!(
            "Someone (probably you) subscribed to updates from the trust portal of {organization}."
        )],
        action: "Confirm the subscription",
        link,
        closing: "If it was not you, ignore this message; you will not receive any other.".to_owned(),
        unsubscribe: Some(leave),
    };
    compose(ctx, to, &letter)
}

/// News for a subscriber, with a link to unsubscribe.
pub(crate) fn news(
    ctx: &Ctx,
    to: &To,
    organization: &str,
    post: &PortalPost,
    link: &str,
    leave: &str,
) -> Message {
    let letter = MailTemplate {
        organization,
        subject: format!("{organization}: {}", post.title),
        paragraphs: vec![post.title.clone(), post.text.clone()],
        action: "Open the portal",
        link,
        closing: format!(
            "You receive this because you subscribed to the trust portal of {organization}. To unsubscribe: {leave}"
        ),
        unsubscribe: Some(leave),
    };
    compose(ctx, to, &letter)
}

/// The fonts of the console, with fallbacks for mail programs that lack them.
const FONTS: &str = "Geist,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif";

fn compose(ctx: &Ctx, to: &To, letter: &MailTemplate<'_>) -> Message {
    let MailTemplate { organization, subject, paragraphs, action, link, closing, unsubscribe } = letter;
    let greeting = if to.name.is_empty() { "Hello,".to_owned() } else { format!("Hello {},", to.name) };
    let text = format!("{greeting}\n\n{}\n\n{action}:\n{link}\n\n{closing}\n", paragraphs.join("\n\n"));
    let body = linked(&paragraphs.join("\n\n")).replace("\n\n", "</p><p>").replace('\n', "<br>");
    let head = match organization.is_empty() {
        true => String::new(),
        false => format!(
            "<p style=\"font-weight:600;font-size:1.1rem;padding-bottom:.6rem;border-bottom:1px solid #e5e8ed\">{}</p>",
            html(organization)
        ),
    };
    let page = format!(
        "<!doctype html><html><body style=\"font-family:{FONTS};line-height:1.5;color:#14171f;max-width:36rem\">{head}\
         <p>{}</p><p>{body}</p><p><a href=\"{}\" style=\"display:inline-block;padding:.6rem 1rem;background:#3350d6;\
         color:#fff;text-decoration:none;border-radius:.4rem\">{action}</a></p>\
         <p style=\"color:#5f6878\">{}</p></body></html>",
        html(&greeting),
        html(link),
        linked(closing)
    );
    Message {
        from_name: organization.to_string(),
        id: ctx.ids.next::<attestry_domain::id::kind::Message>().to_string(),
        to_name: to.name.clone(),
        to_address: to.email.clone(),
        // A subject is a single line of limited length.
        subject: subject.chars().filter(|c| !c.is_control()).take(200).collect(),
        text,
        html: page,
        unsubscribe: unsubscribe.map(str::to_owned),
    }
}

/// Converts text to HTML and turns URLs into links.
fn linked(text: &str) -> String {
    let mut written = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some(start) = ["https://", "http://"].iter().filter_map(|scheme| rest.find(scheme)).min() {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| c.is_whitespace() || "<>\"".contains(c)).unwrap_or(from.len());
        let address = from[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']']);
        let shown = html(address);
        for part in [&html(before), "<a href=\"", &shown, "\">", &shown, "</a>"] {
            written.push_str(part);
        }
        rest = &from[address.len()..];
    }
    written.push_str(&html(rest));
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_links() {
        assert_eq!(
            linked("See https://a.example/?x=1&y=2.\nOr <b>"),
            "See <a href=\"https://a.example/?x=1&amp;y=2\">https://a.example/?x=1&amp;y=2</a>.\nOr &lt;b&gt;"
        );
        assert_eq!(
            linked("here (https://a.example/b)"),
            "here (<a href=\"https://a.example/b\">https://a.example/b</a>)"
        );
        assert_eq!(
            linked("https://a.example/\"onclick=x"),
            "<a href=\"https://a.example/\">https://a.example/</a>&quot;onclick=x"
        );
        assert_eq!(linked("javascript:alert(1)"), "javascript:alert(1)");
    }
}

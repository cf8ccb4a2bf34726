//! The data of the pages in `templates/`, which escape it.

use std::fmt;

use askama::Template;
use attestry_app::portals::Listed;
use attestry_app::portals::public::{Public, SubProcessor};
use attestry_app::trust_access::agreements::Offer;
use attestry_app::trust_access::reading::{Readable, Reader};
use attestry_domain::Time;
use attestry_domain::content::{Block, Content, Inline, markdown};
use attestry_domain::date::Date;
use attestry_domain::portals::trust_access::NdaStatus;
use attestry_domain::portals::{
    Certificate, CertificateFramework, PortalDocument, PortalPost, Progress, Visibility,
};

use super::words::Words;

/// The name of an organization.
pub(super) struct Company<'a>(&'a str);

impl Company<'_> {
    fn initials(&self) -> String {
        let letters = self.0.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
        letters.take(2).flat_map(char::to_uppercase).collect()
    }
}

impl fmt::Display for Company<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// An e-mail address.
pub(super) struct Address<'a>(&'a str);

impl Address<'_> {
    /// Returns true if no character has a meaning in `mailto:` URLs.
    fn is_plain(&self) -> bool {
        self.0.chars().all(|c| c.is_alphanumeric() || "@.-_+".contains(c))
    }
}

impl fmt::Display for Address<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Returns the address of a web site if it is one, because `javascript:` URLs run in the page.
fn web_address(url: Option<&str>) -> Option<&str> {
    url.filter(|url| url.starts_with("https://") || url.starts_with("http://"))
}

/// Splits plain text into paragraphs of lines.
fn paragraphs(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\r\n", "\n");
    let all = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    all.map(|text| text.split('\n').map(ToOwned::to_owned).collect()).collect()
}

/// Returns the text in the seal of a framework.
fn seal(framework: CertificateFramework) -> &'static str {
    match framework {
        CertificateFramework::Iso27001 => "27001",
        CertificateFramework::Iso42001 => "42001",
        CertificateFramework::Gdpr => "GDPR",
        CertificateFramework::Hipaa => "HIPAA",
        CertificateFramework::Soc2Type1 | CertificateFramework::Soc2Type2 => "SOC 2",
        CertificateFramework::PciDss => "PCI",
        CertificateFramework::Nen7510 => "7510",
        CertificateFramework::Iso9001 => "9001",
    }
}

/// A framework with its seal.
struct Seal {
    seal: &'static str,
    title: &'static str,
    status: Progress,
    progress: &'static str,
}

impl Seal {
    fn is_done(&self) -> bool {
        self.status == Progress::Compliant
    }
}

/// A document that a portal lists.
struct Document {
    document: PortalDocument,
    title: String,
    kind: &'static str,
    access: &'static str,
    visibility: Visibility,
    path: String,
}

impl Document {
    fn new(w: Words, one: &Listed, operations: &str) -> Self {
        let Listed { document, ref title, visibility } = *one;
        let (title, kind) = match document {
            PortalDocument::Certificate(framework) => {
                (w.certificate(framework.title()), w.kind_certificate())
            }
            PortalDocument::Policy(_) => (title.clone(), w.kind_policy()),
        };
        let access = match visibility {
            Visibility::Public => w.public(),
            Visibility::OnRequest => w.on_request(),
            Visibility::Nda | Visibility::Hidden => w.behind_nda(),
        };
        Self { document, title, kind, access, visibility, path: format!("{operations}/documents/{document}") }
    }

    fn is_public(&self) -> bool {
        self.visibility == Visibility::Public
    }
}

struct Supplier<'a> {
    name: &'a str,
    website: Option<&'a str>,
    description: &'a str,
    category: &'a str,
}

impl<'a> Supplier<'a> {
    fn new(w: Words, one: &'a SubProcessor) -> Self {
        Self {
            name: &one.name,
            website: web_address(one.website.as_deref()),
            description: &one.description,
            category: w.category(&one.category),
        }
    }
}

struct Post<'a> {
    title: &'a str,
    day: Option<String>,
    text: Vec<Vec<String>>,
}

impl<'a> From<&'a PortalPost> for Post<'a> {
    fn from(post: &'a PortalPost) -> Self {
        let day = post.published_at.map(|at| Date::of(at).to_string());
        Self { title: &post.title, day, text: paragraphs(&post.text) }
    }
}

/// The input of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Input {
    Text,
    Email,
    Paragraph,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Email => "email",
            Self::Text | Self::Paragraph => "text",
        })
    }
}

struct Field<'a> {
    name: &'static str,
    label: &'static str,
    input: Input,
    autocomplete: &'static str,
    value: &'a str,
    help: Option<&'static str>,
    is_required: bool,
}

impl Field<'_> {
    fn new(name: &'static str, label: &'static str, input: Input, autocomplete: &'static str) -> Self {
        Self { name, label, input, autocomplete, value: "", help: None, is_required: true }
    }

    fn is_long(&self) -> bool {
        self.input == Input::Paragraph
    }
}

/// A form that the script sends as JSON. Without scripts it says so and shows the contact address.
#[derive(Default)]
struct Form<'a> {
    id: &'static str,
    title: &'static str,
    lead: String,
    path: String,
    /// The token of a link, which is sent with the form.
    token: Option<&'a str>,
    fields: Vec<Field<'a>>,
    documents: Vec<Document>,
    /// The label of the box to tick.
    accept: Option<&'static str>,
    button: &'static str,
    /// The operation that returns the text as PDF.
    pdf: Option<String>,
    /// The text that replaces the form once it is sent.
    sent: &'static str,
    contact: Option<Address<'a>>,
}

/// The public page of a portal.
#[derive(Template)]
#[template(path = "portal.html", whitespace = "minimize")]
pub(super) struct PortalPage<'a> {
    w: Words,
    company: Company<'a>,
    website: Option<&'a str>,
    url: &'a str,
    summary: String,
    overview: Vec<Vec<String>>,
    contact: Option<Address<'a>>,
    frameworks: Vec<Seal>,
    documents: Vec<Document>,
    form: Form<'a>,
    sub_processors: Vec<Supplier<'a>>,
    updates: Vec<Post<'a>>,
    questions: Vec<Post<'a>>,
    small_forms: [Form<'a>; 2],
    /// A preview has no script.
    is_preview: bool,
}

impl<'a> PortalPage<'a> {
    pub(super) fn new(w: Words, shown: &'a Public, is_preview: bool) -> Self {
        let company = &shown.organization.name;
        let overview = shown.portal.overview.as_deref().unwrap_or_default();
        let summary: String =
            overview.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
        let operations = format!("/v1/trust-access/{}", shown.portal.organization_id);
        let documents = || shown.documents.iter().map(|one| Document::new(w, one, &operations));
        let contact = || shown.portal.contact_email.as_deref().map(Address);
        let email = || Field::new("email", w.email(), Input::Email, "email");
        let optional = |field: Field<'a>| Field { is_required: false, ..field };
        let form = Form {
            id: "request",
            title: w.request(),
            lead: w.request_lead().to_owned(),
            path: format!("{operations}/requests"),
            fields: vec![
                Field::new("name", w.name(), Input::Text, "name"),
                email(),
                optional(Field::new("company", w.company(), Input::Text, "organization")),
                optional(Field::new("purpose", w.purpose(), Input::Paragraph, "off")),
            ],
            documents: documents().filter(|one| one.visibility == Visibility::OnRequest).collect(),
            button: w.request(),
            sent: w.requested(),
            contact: contact(),
            ..Form::default()
        };
        let small = |id, action, [title, lead, button, sent]: [&'static str; 4]| Form {
            id,
            title,
            lead: lead.to_owned(),
            path: format!("{operations}/{action}"),
            fields: vec![email()],
            button,
            sent,
            contact: contact(),
            ..Form::default()
        };
        let reclaim = [w.reclaim(), w.reclaim_lead(), w.reclaim_button(), w.reclaimed()];
        let subscribe = [w.subscribe(), w.subscribe_lead(), w.subscribe_button(), w.subscribed()];
        Self {
            w,
            website: web_address(shown.organization.website.as_deref()),
            url: &shown.url,
            summary: if summary.is_empty() { w.summary(company) } else { summary },
            overview: paragraphs(overview),
            contact: contact(),
            frameworks: shown
                .frameworks
                .iter()
                .map(|(framework, state)| Seal {
                    seal: seal(*framework),
                    title: framework.title(),
                    status: state.status,
                    progress: w.progress(state.status),
                })
                .collect(),
            documents: documents().collect(),
            form,
            sub_processors: shown.sub_processors.iter().map(|one| Supplier::new(w, one)).collect(),
            updates: shown.updates.iter().map(Into::into).collect(),
            questions: shown.questions.iter().map(Into::into).collect(),
            small_forms: [small("reclaim", "reclaim", reclaim), small("subscribe", "subscribers", subscribe)],
            company: Company(company),
            is_preview,
        }
    }
}

/// A page with nothing but a message.
#[derive(Template)]
#[template(path = "message.html", whitespace = "minimize")]
pub(super) struct MessagePage<'a> {
    pub(super) w: Words,
    pub(super) title: &'static str,
    pub(super) text: &'a str,
}

/// A formatted text.
#[derive(Template)]
#[template(path = "blocks.html", whitespace = "minimize")]
struct Blocks<'a> {
    blocks: &'a [Block],
}

impl<'a> Blocks<'a> {
    fn of(blocks: &'a [Block]) -> Self {
        Self { blocks }
    }
}

/// An agreement to read and sign.
#[derive(Template)]
#[template(path = "agreement.html", whitespace = "minimize")]
pub(super) struct AgreementPage<'a> {
    w: Words,
    company: Company<'a>,
    name: &'a str,
    email: &'a str,
    text: Vec<Block>,
    form: Form<'a>,
}

impl<'a> AgreementPage<'a> {
    pub(super) fn new(w: Words, offer: &'a Offer, token: &str) -> Self {
        let Offer { nda, request, organization, .. } = offer;
        let until = w.day(&organization.time_zone.date_of(nda.expires_at).to_string());
        let operations = format!("/v1/trust-access/nda/{token}");
        let form = Form {
            id: "sign",
            title: w.sign(),
            lead: match (nda.status, nda.duration_days.get()) {
                (NdaStatus::Signed, _) => w.signed_before().to_owned(),
                (_, 1) => w.lasts_one_day(until),
                (_, days) => w.lasts(days, until),
            },
            path: format!("{operations}/sign"),
            fields: vec![
                Field { value: &request.name, ..Field::new("name", w.full_name(), Input::Text, "name") },
                Field {
                    help: Some(w.signer_email_help()),
                    ..Field::new("email", w.signer_email(), Input::Email, "email")
                },
            ],
            accept: Some(w.agree()),
            button: w.sign_button(),
            pdf: Some(format!("{operations}/preview-nda")),
            sent: w.signed_text(),
            ..Form::default()
        };
        // The text was checked when it was saved.
        let as_it_is = |_| Content(vec![Block::Paragraph(vec![Inline::plain(nda.text.as_str())])]);
        let Content(text) = markdown::read(&nda.text).unwrap_or_else(as_it_is);
        Self {
            w,
            company: Company(&organization.name),
            name: &request.name,
            email: &request.email,
            text,
            form,
        }
    }
}

/// A document that a link gives access to.
struct File<'a> {
    title: &'a str,
    details: String,
    /// The path of the download below that of the link. `None` if it cannot be downloaded.
    file: Option<String>,
}

/// The documents that a link gives access to.
#[derive(Template)]
#[template(path = "reading.html", whitespace = "minimize")]
pub(super) struct ReadingPage<'a> {
    w: Words,
    company: Company<'a>,
    name: &'a str,
    email: &'a str,
    until: String,
    path: String,
    sections: [(&'static str, Vec<File<'a>>); 2],
    is_empty: bool,
}

impl<'a> ReadingPage<'a> {
    pub(super) fn new(
        w: Words,
        reader: &'a Reader,
        token: &str,
        certificates: &'a [Certificate],
        policies: &'a [Readable],
    ) -> Self {
        let day = |at: Time| w.day(&reader.organization.time_zone.date_of(at).to_string());
        let certificate = |one: &'a Certificate| File {
            title: one.framework.title(),
            details: one.file_name.clone(),
            file: Some(format!("compliance-resources/{}", one.framework)),
        };
        let policy = |one: &'a Readable| File {
            title: &one.version.name,
            details: w.version(one.version.number, day(one.version.published_at)),
            file: one.is_downloadable.then(|| format!("policies/{}", one.policy.id)),
        };
        let all = (policies.len() > 1).then(|| File {
            title: w.all_policies(),
            details: "PDF".to_owned(),
            file: Some("policies/download-all".to_owned()),
        });
        Self {
            w,
            company: Company(&reader.organization.name),
            name: &reader.grant.name,
            email: &reader.grant.email,
            until: day(reader.grant.expires_at),
            path: format!("/v1/trust-access/access/{token}"),
            sections: [
                (w.certificates(), certificates.iter().map(certificate).collect()),
                (w.policies(), policies.iter().map(policy).chain(all).collect()),
            ],
            is_empty: certificates.is_empty() && policies.is_empty(),
        }
    }
}

/// A page with one button, so that nothing happens when a mail program opens the link.
#[derive(Template)]
#[template(path = "subscription.html", whitespace = "minimize")]
pub(super) struct SubscriptionPage<'a> {
    w: Words,
    form: Form<'a>,
}

impl<'a> SubscriptionPage<'a> {
    fn new(w: Words, token: &'a str, action: &str, [title, lead, button, sent]: [&'static str; 4]) -> Self {
        let form = Form {
            id: "subscription",
            title,
            lead: lead.to_owned(),
            path: format!("/v1/trust-access/subscriptions/{action}"),
            token: Some(token),
            button,
            sent,
            ..Form::default()
        };
        Self { w, form }
    }

    pub(super) fn confirm(w: Words, token: &'a str) -> Self {
        Self::new(w, token, "confirm", [w.confirm(), w.confirm_text(), w.confirm_button(), w.confirmed()])
    }

    pub(super) fn leave(w: Words, token: &'a str) -> Self {
        Self::new(w, token, "unsubscribe", [w.leave(), w.leave_text(), w.leave(), w.left()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_text_is_escaped() {
        let text = "# <b>A</b>\n\n1. one\n   - *two* & **three**\n\n[b](https://b.example/?x=1&y=2)\n\n<script>alert(1)</script>\n\n`<i>`";
        let Content(blocks) = markdown::read(text).expect("a text");
        let html = Blocks::of(&blocks).render().expect("a page");
        for wrong in ["<script", "<b>", "<i>"] {
            assert!(!html.contains(wrong), "{wrong} in {html}");
        }
        for right in ["<ol start=\"1\">", "<em>two</em> &#38; <strong>three</strong>", "?x=1&#38;y=2\""] {
            assert!(html.contains(right), "{right} in {html}");
        }
    }

    #[test]
    fn links_lead_to_web_sites_and_mail() {
        assert_eq!(web_address(Some("javascript:alert(1)")), None);
        assert_eq!(web_address(Some("https://a.example")), Some("https://a.example"));
        assert!(Address("a+b@c.example").is_plain() && !Address("a?cc=b@c.example").is_plain());
    }
}

//! The HTML of a published portal. All user content is escaped here.

use std::fmt::Write;

use attestry_app::portals::Listed;
use attestry_app::portals::public::{Public, SubProcessor};
use attestry_domain::date::Date;
use attestry_domain::portals::{CertificateFramework, PortalDocument, PortalPost, Progress, Visibility};
use attestry_domain::text::html;

use super::words::Words;

/// Icons in the colour of the surrounding text.
const FILE: &str = "<svg class=\"icon\" width=\"18\" height=\"18\" fill=\"none\" stroke=\"currentColor\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M14 3v4a1 1 0 0 0 1 1h4\"/>\
    <path d=\"M17 21H7a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2h7l5 5v11a2 2 0 0 1-2 2zM9 9h1M9 13h6M9 17h6\"/></svg>";
const LOCK: &str = "<svg class=\"icon\" width=\"18\" height=\"18\" fill=\"none\" stroke=\"currentColor\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
    <path d=\"M5 13a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2v6a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2z\"/>\
    <path d=\"M11 16a1 1 0 1 0 2 0a1 1 0 0 0-2 0M8 11V7a4 4 0 1 1 8 0v4\"/></svg>";
const CHECK: &str = "<svg class=\"glyph done\" width=\"16\" height=\"16\" fill=\"none\" stroke=\"currentColor\" viewBox=\"0 0 14 14\" aria-hidden=\"true\"><circle cx=\"7\" cy=\"7\" r=\"6.4\"/>\
    <path d=\"M4.3 7.2 6.2 9l3.5-3.8\"/></svg>";
const HALF: &str = "<svg class=\"glyph half\" width=\"16\" height=\"16\" fill=\"none\" stroke=\"currentColor\" viewBox=\"0 0 14 14\" aria-hidden=\"true\"><circle cx=\"7\" cy=\"7\" r=\"5.7\"/>\
    <path d=\"M7 3.4a3.6 3.6 0 0 1 0 7.2z\"/></svg>";
const RING: &str = "<svg class=\"glyph\" width=\"16\" height=\"16\" fill=\"none\" stroke=\"currentColor\" viewBox=\"0 0 14 14\" aria-hidden=\"true\"><circle cx=\"7\" cy=\"7\" r=\"5.7\"/></svg>";

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

/// Renders plain text as paragraphs.
fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let all = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    let all = all.map(|text| format!("<p>{}</p>", html(text).replace('\n', "<br>")));
    all.collect::<Vec<_>>().concat()
}

fn initials(name: &str) -> String {
    let letters = name.split_whitespace().filter_map(|word| word.chars().find(|c| c.is_alphanumeric()));
    letters.take(2).flat_map(char::to_uppercase).collect()
}

/// Wraps a page in an HTML document. `head` and `body` are HTML.
fn document(words: &Words, head: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"{}\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">{head}\
         <link rel=\"stylesheet\" href=\"/assets/portal.css\"><link rel=\"icon\" href=\"data:,\">\
         <script type=\"module\" src=\"/assets/portal.js\"></script></head><body>{body}</body></html>",
        words.language
    )
}

/// Renders the page for a portal that does not exist.
pub(super) fn missing(words: &Words) -> String {
    let head = format!("<meta name=\"robots\" content=\"noindex\"><title>{}</title>", words.missing);
    let body =
        format!("<main class=\"alone\"><h1>{}</h1><p>{}</p></main>", words.missing, words.missing_text);
    document(words, &head, &body)
}

/// Renders the metadata for search engines and link previews.
fn head(words: &Words, name: &str, overview: &str, url: &str) -> String {
    let title = html(&(words.title)(name));
    let summary: String =
        overview.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(160).collect();
    let summary = html(&if summary.is_empty() { (words.summary)(name) } else { summary });
    let (name, url) = (html(name), html(url));
    format!(
        "<title>{title}</title><meta name=\"description\" content=\"{summary}\"><link rel=\"canonical\" href=\"{url}\">\
         <meta property=\"og:type\" content=\"website\"><meta property=\"og:site_name\" content=\"{name}\">\
         <meta property=\"og:title\" content=\"{title}\"><meta property=\"og:description\" content=\"{summary}\">\
         <meta property=\"og:url\" content=\"{url}\"><meta name=\"twitter:card\" content=\"summary\">"
    )
}

/// Renders an e-mail address as a link, unless it contains a character with a meaning in `mailto:` URLs.
fn mail_link(email: &str) -> String {
    let is_plain = email.chars().all(|c| c.is_alphanumeric() || "@.-_+".contains(c));
    let email = html(email);
    if is_plain { format!("<a class=\"link\" href=\"mailto:{email}\">{email}</a>") } else { email }
}

fn frameworks(words: &Words, shown: &Public) -> String {
    if shown.frameworks.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for (framework, state) in &shown.frameworks {
        let (kind, glyph) = match state.status {
            Progress::Compliant => (" done", CHECK),
            Progress::InProgress => ("", HALF),
            Progress::Started => ("", RING),
        };
        let _ = write!(
            rows,
            "<li><span class=\"seal{kind}\" aria-hidden=\"true\">{}</span> <span class=\"words\"><b>{}</b> \
             <small>{}</small></span> {glyph}</li>",
            seal(*framework),
            framework.title(),
            words.progress(state.status)
        );
    }
    format!("<ul class=\"seals\" aria-label=\"{}\">{rows}</ul>", words.frameworks)
}

/// Returns the name of a document, as HTML.
fn title_of(words: &Words, listed: &Listed) -> String {
    html(&match listed.document {
        PortalDocument::Certificate(framework) => (words.certificate)(framework.title()),
        PortalDocument::Policy(_) => listed.title.clone(),
    })
}

fn documents(words: &Words, shown: &Public) -> String {
    let mut rows = String::new();
    for listed in &shown.documents {
        let (document, title) = (listed.document, title_of(words, listed));
        let kind = match document {
            PortalDocument::Certificate(_) => words.kind_certificate,
            PortalDocument::Policy(_) => words.kind_policy,
        };
        let (access, end) = if listed.visibility == Visibility::Public {
            let path = format!("/v1/trust-access/{}/documents/{document}", shown.portal.organization_id);
            let label = (words.download_of)(&title);
            (
                words.public,
                format!(
                    "<a class=\"ask\" href=\"{path}\" aria-label=\"{label}\" download>{}</a>",
                    words.download
                ),
            )
        } else {
            let access =
                if listed.visibility == Visibility::OnRequest { words.on_request } else { words.behind_nda };
            let label = (words.ask_for)(&title);
            let end = format!(
                "<a class=\"ask\" href=\"#request\" data-document=\"{document}\" aria-label=\"{label}\">{LOCK} {}</a>",
                words.ask
            );
            (access, end)
        };
        let _ = write!(
            rows,
            "<li>{FILE}<span class=\"words\"><b>{title}</b> <small>{kind} · {access}</small></span> {end}</li>"
        );
    }
    let list = match rows.is_empty() {
        true => format!("<p class=\"none\">{}</p>", words.no_documents),
        false => format!("<ul class=\"documents\">{rows}</ul>"),
    };
    format!("<section class=\"files\"><h2>{}</h2>{list}</section>", words.documents)
}

/// Renders a name, linked to the web site if there is one.
fn linked(name: &str, website: Option<&str>, class: &str) -> String {
    let name = html(name);
    match website.filter(|url| url.starts_with("https://") || url.starts_with("http://")) {
        Some(url) => {
            format!("<a class=\"{class}\" href=\"{}\" rel=\"noopener nofollow\">{name}</a>", html(url))
        }
        None => name,
    }
}

fn sub_processors(words: &Words, all: &[SubProcessor]) -> String {
    let mut rows = String::new();
    for one in all {
        let _ = write!(
            rows,
            "<li><span class=\"words\"><b>{}</b> <small>{}</small></span> <span class=\"kind\">{}</span></li>",
            linked(&one.name, one.website.as_deref(), "link"),
            html(&one.description),
            html(words.category(&one.category))
        );
    }
    section(words.sub_processors, "plain", &rows)
}

fn updates(words: &Words, all: &[PortalPost]) -> String {
    let mut rows = String::new();
    for post in all {
        let date = post.published_at.map_or_else(String::new, |at| {
            let day = Date::of(at).to_string();
            format!("<time datetime=\"{day}\">{}</time>", words.day(&day))
        });
        let _ = write!(
            rows,
            "<li><article><h3>{}</h3>{date}{}</article></li>",
            html(&post.title),
            paragraphs(&post.text)
        );
    }
    section(words.updates, "news", &rows)
}

fn questions(words: &Words, all: &[PortalPost]) -> String {
    let mut rows = String::new();
    for post in all {
        let _ = write!(
            rows,
            "<li><details><summary>{}</summary>{}</details></li>",
            html(&post.title),
            paragraphs(&post.text)
        );
    }
    section(words.questions, "questions", &rows)
}

fn section(title: &str, class: &str, rows: &str) -> String {
    match rows.is_empty() {
        true => String::new(),
        false => format!("<section><h2>{title}</h2><ul class=\"{class}\">{rows}</ul></section>"),
    }
}

/// Renders a form field, with an element for the error that the script reports.
fn field(form: &str, name: &str, label: &str, input: &str, is_needed: bool, words: &Words) -> String {
    let optional = if is_needed { String::new() } else { format!(" <small>{}</small>", words.optional) };
    let required = if is_needed { " required" } else { "" };
    let id = format!("{form}-{name}");
    let (element, end) =
        if input == "textarea" { ("textarea rows=\"3\"", "</textarea>") } else { ("input", "") };
    let kind = if input == "textarea" { "" } else { input };
    format!(
        "<label for=\"{id}\">{label}{optional}</label>\
         <{element} id=\"{id}\" name=\"{name}\" {kind} aria-describedby=\"{id}-error\"{required}>{end}\
         <p class=\"error\" id=\"{id}-error\" data-error=\"{name}\"></p>"
    )
}

/// Renders a form that the script sends as JSON. Without scripts it says so and shows the contact address.
fn form(path: &str, fields: &str, button: &str, done: &str, contact: Option<&str>, words: &Words) -> String {
    let instead = contact.map_or_else(String::new, |email| format!(" {}", mail_link(email)));
    format!(
        "<form data-send=\"{path}\" novalidate>{fields}<p class=\"error\" data-error=\"\" role=\"alert\"></p>\
         <p class=\"needs-script\">{}{instead}</p><button disabled>{button}</button></form>\
         <p class=\"sent\" role=\"status\" data-sent hidden>{done}</p>",
        words.needs_script
    )
}

/// Renders the check boxes of documents that are available on request.
fn on_request(words: &Words, shown: &Public) -> String {
    let mut boxes = String::new();
    for listed in shown.documents.iter().filter(|one| one.visibility == Visibility::OnRequest) {
        let (document, title) = (listed.document, title_of(words, listed));
        let _ = write!(
            boxes,
            "<label class=\"box\"><input type=\"checkbox\" name=\"documents\" value=\"{document}\" data-list>\
             <span>{title}</span></label>"
        );
    }
    match boxes.is_empty() {
        true => String::new(),
        false => format!(
            "<fieldset><legend>{}</legend>{boxes}</fieldset><p class=\"error\" data-error=\"documents\"></p>",
            words.also
        ),
    }
}

fn forms(words: &Words, shown: &Public) -> (String, String) {
    let path = |action: &str| format!("/v1/trust-access/{}/{action}", shown.portal.organization_id);
    let contact = shown.portal.contact_email.as_deref();
    let mail = "type=\"email\" autocomplete=\"email\" inputmode=\"email\"";
    let email = |form: &str| field(form, "email", words.email, mail, true, words);
    let fields = [
        field("request", "name", words.name, "type=\"text\" autocomplete=\"name\"", true, words),
        email("request"),
        field(
            "request",
            "company",
            words.company,
            "type=\"text\" autocomplete=\"organization\"",
            false,
            words,
        ),
        field("request", "purpose", words.purpose, "textarea", false, words),
        on_request(words, shown),
    ];
    let request = form(&path("requests"), &fields.concat(), words.request, words.requested, contact, words);
    let request = format!(
        "<aside class=\"request\" id=\"request\" aria-labelledby=\"request-title\" tabindex=\"-1\">\
         <h2 id=\"request-title\">{}</h2><p class=\"lead\">{}</p>{request}<p class=\"note\">{}</p></aside>",
        words.request, words.request_lead, words.request_note
    );
    let small = |id: &str, action: &str, texts: [&str; 4]| {
        let [title, lead, button, done] = texts;
        let form = form(&path(action), &email(id), button, done, contact, words);
        format!(
            "<section id=\"{id}\" tabindex=\"-1\"><h2>{title}</h2><p class=\"lead\">{lead}</p>{form}</section>"
        )
    };
    let others = [
        small(
            "reclaim",
            "reclaim",
            [words.reclaim, words.reclaim_lead, words.reclaim_button, words.reclaimed],
        ),
        small(
            "subscribe",
            "subscribers",
            [words.subscribe, words.subscribe_lead, words.subscribe_button, words.subscribed],
        ),
    ];
    (request, format!("<footer class=\"more\"><div>{}</div></footer>", others.concat()))
}

/// Renders the public page of a portal.
pub(super) fn portal(words: &Words, shown: &Public) -> String {
    let company = &shown.organization.name;
    let overview = shown.portal.overview.as_deref().unwrap_or_default();
    let contact = shown.portal.contact_email.as_deref().map_or_else(String::new, |email| {
        format!("<p class=\"contact\">{} {}</p>", words.questions_to, mail_link(email))
    });
    let (request, others) = forms(words, shown);
    let body = format!(
        "<a class=\"skip\" href=\"#content\">{}</a> \
         <header class=\"brand\"><span class=\"mark\" aria-hidden=\"true\">{}</span> <span>{}</span> \
         <a href=\"#reclaim\">{}</a></header>\
         <main id=\"content\"><div class=\"top\"><div class=\"inner\"><div class=\"about\"><h1>{}</h1>{}{contact}</div>{}</div></div>\
         <div class=\"inner body\">{}{request}<div class=\"rest\">{}{}{}</div></div></main>{others}",
        words.skip,
        html(&initials(company)),
        linked(company, shown.organization.website.as_deref(), "home"),
        words.has_access,
        html(&(words.heading)(company)),
        paragraphs(overview),
        frameworks(words, shown),
        documents(words, shown),
        sub_processors(words, &shown.sub_processors),
        updates(words, &shown.updates),
        questions(words, &shown.questions),
    );
    document(words, &head(words, company, overview, &shown.url), &body)
}

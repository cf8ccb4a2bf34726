//! A published portal as a page that needs no script to be read.

use std::fmt::Write;

use attestry_app::portals::{self, Listed, Public};
use attestry_domain::date::Date;
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::{PortalPost, Progress};
use attestry_domain::text::html;
use axum::extract::{Path, State};
use axum::response::Response;

use crate::answer::problem::Problem;
use crate::document::docs;
use crate::request::caller::Guest;
use crate::state::Api;

const HTML: &str = "text/html; charset=utf-8";

/// `/trust/{friendlyUrl}`
pub(crate) async fn show(
    State(api): State<Api>,
    guest: Guest,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let shown = portals::show(&api.ctx, &name, guest.host).await?;
    Ok(docs::page(HTML, page(&shown)))
}

/// The start page of a portal's own domain.
pub(crate) async fn of(api: &Api, organization: OrganizationId) -> Result<Response, Problem> {
    let shown = portals::show(&api.ctx, &organization.to_string(), Some(organization)).await?;
    Ok(docs::page(HTML, page(&shown)))
}

/// Text as it was written, in paragraphs.
fn paragraphs(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let all = text.split("\n\n").map(str::trim).filter(|text| !text.is_empty());
    let all = all.map(|text| format!("<p>{}</p>", html(text).replace('\n', "<br>")));
    all.collect::<Vec<_>>().concat()
}

fn section(title: &str, content: &str) -> String {
    if content.is_empty() { String::new() } else { format!("<section><h2>{title}</h2>{content}</section>") }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items = items.map(|item| format!("<li>{item}</li>")).collect::<Vec<_>>().concat();
    if items.is_empty() { items } else { format!("<ul>{items}</ul>") }
}

fn progress(status: Progress) -> &'static str {
    match status {
        Progress::Started => "started",
        Progress::InProgress => "in progress",
        Progress::Compliant => "compliant",
    }
}

fn posts(all: &[PortalPost], dated: bool) -> String {
    let mut text = String::new();
    for post in all {
        let date = post.published_at.filter(|_| dated).map_or_else(String::new, |at| {
            let day = Date::of(at);
            format!(" <time datetime=\"{day}\">{day}</time>")
        });
        let _ = write!(text, "<h3>{}{date}</h3>{}", html(&post.title), paragraphs(&post.text));
    }
    text
}

/// A web site that a link may lead to.
fn website(url: &str) -> String {
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    let text = html(url);
    if is_web { format!("<a href=\"{text}\" rel=\"noopener nofollow\">{text}</a>") } else { text }
}

fn page(shown: &Public) -> String {
    let Public { organization, portal, url, frameworks, documents, sub_processors, updates, questions } =
        shown;
    let name = html(&organization.name);
    let path = portal.organization_id.to_string();
    let overview = portal.overview.as_deref().unwrap_or_default();
    let summary: String = overview.chars().take(160).collect();
    let summary = match summary.is_empty() {
        true => format!("Security and compliance at {name}."),
        false => html(&summary.replace('\n', " ")),
    };
    let contact = portal.contact_email.as_deref().map_or_else(String::new, |email| {
        // What means something in such a link is not linked.
        let is_plain = email.chars().all(|c| c.is_alphanumeric() || "@.-_+".contains(c));
        let email = html(email);
        match is_plain {
            true => format!("<p>Questions: <a href=\"mailto:{email}\">{email}</a></p>"),
            false => format!("<p>Questions: {email}</p>"),
        }
    });
    let frameworks = list(frameworks.iter().map(|(framework, shown)| {
        format!("{} <span class=\"status\">{}</span>", framework.title(), progress(shown.status))
    }));
    let documents = list(documents.iter().map(|document| match document {
        Listed::Certificate(framework) => format!("Certificate: {}", framework.title()),
        Listed::Policy(title) => format!("Policy: {}", html(title)),
    }));
    let documents = match documents.is_empty() {
        true => documents,
        false => format!("<p>Available after you sign a non-disclosure agreement.</p>{documents}"),
    };
    let sub_processors = list(sub_processors.iter().map(|one| {
        let site = one.website.as_deref().map_or_else(String::new, |url| format!(" {}", website(url)));
        format!("<strong>{}</strong>{site}<br>{}", html(&one.name), html(&one.description))
    }));
    let mut text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name} · Trust portal</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"description\" content=\"{summary}\"><meta property=\"og:type\" content=\"website\">\
         <meta property=\"og:title\" content=\"{name} · Trust portal\"><meta property=\"og:description\" content=\"{summary}\">\
         <meta property=\"og:url\" content=\"{}\">\
         <link rel=\"stylesheet\" href=\"/assets/pages.css\"><link rel=\"icon\" href=\"data:,\">\
         <script type=\"module\" src=\"/assets/pages.js\"></script></head><body><main><h1>{name}</h1>",
        html(url)
    );
    text.push_str(&paragraphs(overview));
    text.push_str(&contact);
    for (title, content) in [
        ("Frameworks", frameworks),
        ("Documents", documents),
        ("Updates", posts(updates, true)),
        ("Questions", posts(questions, false)),
        ("Sub-processors", sub_processors),
    ] {
        text.push_str(&section(title, &content));
    }
    let _ = write!(text, "{}</main></body></html>", forms(&path));
    text
}

/// Asking for access, getting a link again, and subscribing.
fn forms(path: &str) -> String {
    let field = |form: &str, name: &str, label: &str, kind: &str, complete: &str| {
        format!(
            "<label for=\"{form}-{name}\">{label}</label>\
             <input id=\"{form}-{name}\" name=\"{name}\" type=\"{kind}\" autocomplete=\"{complete}\">\
             <p class=\"error\" data-error=\"{name}\" role=\"alert\"></p>"
        )
    };
    let form = |action: &str, fields: &str, button: &str, done: &str| {
        format!(
            "<form data-action=\"/v1/trust-access/{path}/{action}\" novalidate>{fields}<button>{button}</button>\
             <p class=\"error\" data-error=\"\" role=\"alert\"></p></form><p data-done hidden>{done}</p>"
        )
    };
    let fields = [
        field("request", "name", "Your name", "text", "name"),
        field("request", "email", "Your e-mail address at work", "email", "email"),
        field("request", "company", "Company", "text", "organization"),
        field("request", "purpose", "Why you need the documents", "text", "off"),
    ]
    .concat();
    let request =
        form("requests", &fields, "Request access", "Thank you. You will receive a reply by e-mail.");
    let email = field("reclaim", "email", "Your e-mail address", "email", "email");
    let reclaim =
        form("reclaim", &email, "Send me a link", "If this address has access, a link has been sent to it.");
    let email = field("subscribe", "email", "Your e-mail address", "email", "email");
    let subscribe = form(
        "subscribers",
        &email,
        "Subscribe",
        "Follow the link in the e-mail to confirm the subscription.",
    );
    format!(
        "<section><h2>Request access</h2>{request}</section>\
         <section><h2>Already have access?</h2>{reclaim}</section>\
         <section><h2>Get updates</h2>{subscribe}</section>"
    )
}

//! The OpenAPI document: its metadata, and the list of operations that it describes.

use attestry_http::document::listed::Listed;
use attestry_http::document::openapi;
use serde_json::Value;
use utoipa::OpenApi;

use crate::routes::all;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Attestry",
        description = "Compliance management: people, risks, vendors, and a provable audit log. \
                       Every operation acts within one organization.",
        contact(name = "Attestry"),
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(
        attestry_http::answer::problem::ProblemBody,
        attestry_http::answer::problem::FieldProblem,
        crate::identity::scim::ScimError,
        crate::service::events::EventView
    )),
    tags(
        (name = "People", description = "The members of the organization."),
        (name = "Risks", description = "Risks, their ratings and their treatment."),
        (name = "Vendors", description = "The companies the organization relies on."),
        (name = "Views", description = "Lists as members have arranged them."),
        (name = "Inbox", description = "Your notifications."),
        (name = "Chat channels", description = "Incoming webhooks of Slack or Teams that hear of notifications."),
        (name = "Tasks", description = "Tasks with owners, due dates and evidence."),
        (name = "Automations", description = "Checks and scripts that collect the evidence of a task."),
        (name = "Policies", description = "Policies: texts, versions, approvals and signatures."),
        (name = "Frameworks", description = "Frameworks with their requirements, and the organization's readiness."),
        (name = "Programme", description = "The plan that leads to the audit: scope, owners, due dates, progress."),
        (name = "Controls", description = "Controls, which meet requirements."),
        (name = "Statement of applicability", description = "Which controls of a framework apply, and why."),
        (name = "Context", description = "Facts about the organization."),
        (name = "Trust portal", description = "The public portal: settings, domain, certificates, news and questions."),
        (name = "Trust access", description = "From asking for access to reading: requests, agreements, grants, visits."),
        (name = "Comments", description = "Comments on risks, vendors, tasks and policies."),
        (name = "Attachments", description = "Files and their download links."),
        (name = "Organization", description = "The organization itself."),
        (name = "API keys", description = "API keys for scripts."),
        (name = "Audit log", description = "All changes, chained and signed."),
        (name = "Events", description = "Changes in the organization as they happen."),
        (name = "Sign-in", description = "Sessions, passwords, invitations."),
        (name = "Single sign-on", description = "Connections to identity providers, and the mail domains of the organization."),
        (name = "Directory", description = "The people and groups that an identity provider keeps in step."),
        (name = "Directory (SCIM)", description = "What the identity provider calls: SCIM 2.0, with a token of the directory."),
        (name = "Set-up", description = "The first start."),
        (name = "Service", description = "The service itself.")
    )
)]
struct Base;

/// Builds the whole document from the code. A server responds with the file that was generated at build time; a test
/// compares it with this one.
pub fn document() -> Value {
    openapi::document(Base::openapi(), all(Listed::documented()))
}

#[cfg(test)]
mod tests {
    use attestry_http::document::openapi::names;
    use http::Method;
    use serde_json::json;

    use super::*;
    use attestry_http::request::bodies::MULTIPART;
    use attestry_http::request::body_limits::largest_body;
    use attestry_http::request::facts::BodyLimit;

    #[test]
    fn facts_are_what_the_document_says() {
        let (document, facts) = (document(), all(Listed::served()).into_router().1);
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (name, operation) in item.as_object().expect("operations") {
                let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
                let facts = facts.get(&method, path).expect("every operation has facts");
                let (body, query) = (operation.get("requestBody"), &json!("query"));
                let parameters = operation["parameters"].as_array();
                let forms = body.is_some_and(|body| body["content"].get(MULTIPART).is_some());
                assert_eq!(facts.takes_form, forms, "{path}");
                let takes_query = parameters.is_some_and(|all| all.iter().any(|one| one["in"] == *query));
                assert_eq!(facts.takes_query, takes_query, "{name} {path}");
                let is_list = parameters.is_some_and(|all| all.iter().any(|one| one["name"] == "limit"));
                assert_eq!(facts.is_list, is_list, "{name} {path}");
                let described = parameters.into_iter().flatten().filter(|one| one["in"] == "path").count();
                assert_eq!(described, names(path).len(), "{name} {path}");
            }
        }
        assert!(facts.get(&Method::GET, "/v1/openapi.json").is_none());
    }

    #[test]
    fn no_body_that_is_right_is_too_large() {
        let (document, facts) = (document(), all(Listed::served()).into_router().1);
        for (path, item) in document["paths"].as_object().expect("paths") {
            for (name, operation) in item.as_object().expect("operations") {
                let Some(body) = operation.get("requestBody") else { continue };
                let method = Method::from_bytes(name.to_uppercase().as_bytes()).expect("a method");
                let facts = facts.get(&method, path).expect("facts");
                // SCIM bounds the bytes of a body, not its properties.
                if facts.is_directory {
                    continue;
                }
                let limit = facts.body_limit;
                let largest = largest_body(body, &document["components"]).unwrap_or(usize::MAX);
                assert!(
                    limit.bytes().is_none_or(|limit| largest <= limit),
                    "{name} {path}: {largest} of {limit:?}"
                );
                assert!(
                    limit != BodyLimit::Large || largest > 1 << 20,
                    "{name} {path} is not that large: {largest}"
                );
            }
        }
    }
}

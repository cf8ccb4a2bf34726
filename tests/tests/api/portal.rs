//! Shared steps with a portal: publishing, requesting access, signing, and reading files.

use attestry_tests::{Reply, Tenant, TestApp, id};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The email address of the visitor who requests access.
pub(crate) const GUEST: &str = "grace@customer.example";

/// Publishes the portal of an organization.
pub(crate) async fn publish(app: &TestApp, tenant: &Tenant) {
    let body = json!({"status": "published"});
    app.call("PATCH", "/v1/trust-portal/settings").key(&tenant.key).json(&body).send().await.expect(200);
}

/// Sets the visibility of a document.
pub(crate) async fn choose(app: &TestApp, tenant: &Tenant, document: &str, visibility: &str) -> Reply {
    let body = json!({"documents": [{"document": document, "visibility": visibility}]});
    app.call("PATCH", "/v1/trust-portal/settings").key(&tenant.key).json(&body).send().await
}

/// Requests access in a published portal and returns the request's id.
pub(crate) async fn request(app: &TestApp, tenant: &Tenant, email: &str) -> String {
    let path = format!("/v1/trust-access/{}/requests", tenant.organization);
    let body = json!({"name": "Grace Hopper", "email": email, "company": "Customer Inc."});
    id(&app.call("POST", &path).json(&body).send().await.expect(201)).to_owned()
}

/// Returns the token of the link in the only mail to an address.
pub(crate) async fn token_for(app: &TestApp, email: &str) -> String {
    let mails: Vec<_> = app.mails().await.into_iter().filter(|mail| mail.to_address == email).collect();
    attestry_tests::token_in(&mails)
}

/// Requests access and approves it; returns the request's id and the token of the agreement.
pub(crate) async fn approved(app: &TestApp, tenant: &Tenant, email: &str) -> (String, String) {
    let request = request(app, tenant, email).await;
    app.mails().await;
    let path = format!("/v1/trust-access/admin/requests/{request}/approve");
    app.call("POST", &path).key(&tenant.key).send().await.expect(200);
    (request, token_for(app, email).await)
}

pub(crate) async fn sign(app: &TestApp, token: &str, email: &str) -> Reply {
    let body = json!({"name": "Grace Hopper", "email": email, "accept": true});
    app.call("POST", &format!("/v1/trust-access/nda/{token}/sign")).json(&body).send().await
}

/// The token of a link.
pub(crate) fn token_of(link: &Value) -> String {
    let (_, token) = link.as_str().expect("a link").split_once("token=").expect("a token");
    token.to_owned()
}

/// Requests access, approves and signs; returns the token that opens the documents and the grant's id.
pub(crate) async fn granted(app: &TestApp, tenant: &Tenant, email: &str) -> (String, String) {
    let (_, nda) = approved(app, tenant, email).await;
    let signed = sign(app, &nda, email).await.expect(200);
    app.mails().await;
    (token_of(&signed["portalUrl"]), id(&signed["grant"]).to_owned())
}

/// Builds a PDF with this number of pages.
pub(crate) fn pdf(pages: usize) -> Vec<u8> {
    let mut objects = vec!["<</Type/Catalog/Pages 2 0 R>>".to_owned()];
    let kids: Vec<String> = (0..pages).map(|page| format!("{} 0 R", page + 4)).collect();
    objects.push(format!("<</Type/Pages/Kids[{}]/Count {pages}>>", kids.join(" ")));
    objects.push("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned());
    let page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>>>";
    objects.extend((0..pages).map(|_| page.to_owned()));
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).into_bytes());
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    file.extend(places.iter().flat_map(|place| format!("{place:010} 00000 n \n").into_bytes()));
    let size = objects.len() + 1;
    file.extend(format!("trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n").into_bytes());
    file
}

/// Builds a PDF that exceeds the time limit of the process that reads it: bytes that start like an object but are none,
/// for many numbers.
pub(crate) fn slow_pdf() -> Vec<u8> {
    let mut file = pdf(1);
    let start = file.len();
    file.extend(format!("7 0 {}", " ".repeat(3 << 20)).into_bytes());
    let table = file.len();
    let rows = format!("{start:010} 00000 n \n").repeat(20_000);
    file.extend(format!("xref\n7 20000\n{rows}trailer\n<</Size 20007/Root 1 0 R>>\n").into_bytes());
    file.extend(format!("startxref\n{table}\n%%EOF\n").into_bytes());
    file
}

pub(crate) fn certificate(tenant: &Tenant, framework: &str, file: &[u8]) -> Value {
    json!({
        "organizationId": tenant.organization, "framework": framework, "fileName": "certificate.pdf",
        "fileType": "application/pdf", "fileData": STANDARD.encode(file)
    })
}

pub(crate) async fn upload(app: &TestApp, tenant: &Tenant, framework: &str, file: &[u8]) -> Reply {
    let body = certificate(tenant, framework, file);
    app.call("POST", "/v1/trust-portal/compliance-resources/upload").key(&tenant.key).json(&body).send().await
}

/// Counts the occurrences of a text in the extractable text of a watermarked file.
pub(crate) fn marks(file: &[u8], text: &str) -> usize {
    let document = lopdf::Document::load_mem(file).expect("a PDF");
    let hex = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect::<Vec<_>>().concat();
    let labelled = |stream: &lopdf::Stream| {
        let content = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
        String::from_utf8_lossy(&content).to_uppercase().contains(&hex)
    };
    let labels: Vec<lopdf::ObjectId> = document
        .objects
        .iter()
        .filter(|(_, object)| object.as_stream().is_ok_and(labelled))
        .map(|(id, _)| *id)
        .collect();
    let shows = |page: &lopdf::ObjectId| {
        let resources = document.get_page_resources(*page).expect("resources");
        let own = resources.0.into_iter().cloned();
        let inherited = resources.1.iter().filter_map(|id| document.get_dictionary(*id).ok().cloned());
        own.chain(inherited).any(|resources| {
            let objects = resources.get(b"XObject").and_then(|objects| document.dereference(objects));
            objects.is_ok_and(|(_, objects)| {
                objects.as_dict().is_ok_and(|objects| {
                    objects.iter().any(|(_, one)| one.as_reference().is_ok_and(|one| labels.contains(&one)))
                })
            })
        })
    };
    document.get_pages().values().filter(|page| shows(page)).count()
}

/// Extracts the text of a file that we generated.
pub(crate) fn text(file: &[u8]) -> String {
    let document = lopdf::Document::load_mem(file).expect("a PDF");
    let pages: Vec<u32> = document.get_pages().keys().copied().collect();
    document.extract_text(&pages).expect("text").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Downloads the file of a link to this server.
pub(crate) async fn fetch(app: &TestApp, link: &Value) -> Vec<u8> {
    let path =
        link.as_str().expect("a link").strip_prefix("https://compliance.example.com").expect("our link");
    let reply = app.call("GET", path).send().await;
    assert_eq!(reply.status.as_u16(), 200);
    reply.body
}

//! The pages the server carries with it: a start page, the first set-up, and the pages that links in
//! e-mails lead to. Plain HTML with one small script; the console will take their place.

/// Path, content type, text.
pub const PAGES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("../assets/index.html")),
    ("/setup", HTML, include_str!("../assets/setup.html")),
    ("/sign-in", HTML, include_str!("../assets/sign-in.html")),
    ("/accept-invitation", HTML, include_str!("../assets/accept-invitation.html")),
    ("/forgot-password", HTML, include_str!("../assets/forgot-password.html")),
    ("/reset-password", HTML, include_str!("../assets/reset-password.html")),
    ("/unsubscribe", HTML, include_str!("../assets/unsubscribe.html")),
    ("/trust/nda", HTML, include_str!("../assets/trust-nda.html")),
    ("/trust/access", HTML, include_str!("../assets/trust-access.html")),
    ("/trust/confirm", HTML, include_str!("../assets/trust-confirm.html")),
    ("/trust/leave", HTML, include_str!("../assets/trust-leave.html")),
    ("/assets/pages.css", "text/css; charset=utf-8", include_str!("../assets/pages.css")),
    ("/assets/pages.js", "text/javascript; charset=utf-8", include_str!("../assets/pages.js")),
];

const HTML: &str = "text/html; charset=utf-8";

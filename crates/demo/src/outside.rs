//! Fake external servers for automations: the responses of Northwind's servers at each time. No real request is sent.

use std::sync::Arc;
use std::time::Duration;

use attestry_app::automations::runner::Answers;
use attestry_domain::Time;
use attestry_domain::clock::{Clock, ManualClock};
use attestry_domain::date::Date;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The validity of certificates, in days.
const CERTIFICATE: i64 = 90;

#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) today: Date,
}

impl Outside {
    /// The number of days between the clock and today.
    fn ago(&self) -> i64 {
        let since = self.today.start().since(self.clock.now());
        i64::try_from(since.as_secs() / 86_400).unwrap_or(0)
    }

    /// A web page that lacked one of its headers for some weeks.
    fn page(&self) -> (u16, Vec<(&'static str, &'static str)>, Value) {
        let mut headers = vec![
            ("content-type", "text/html; charset=utf-8"),
            ("referrer-policy", "strict-origin-when-cross-origin"),
            ("strict-transport-security", "max-age=31536000; includeSubDomains"),
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
        ];
        if !(108..140).contains(&self.ago()) {
            headers.push(("content-security-policy", "default-src 'self'; frame-ancestors 'none'"));
        }
        (200, headers, Value::Null)
    }

    fn fetch(&self, url: &str) -> Value {
        let json_headers = vec![("content-type", "application/json")];
        let (status, headers, body) = if url.contains("/protection") {
            // Reviews were disabled for a hot fix and stayed so for a while.
            let reviews = if (60..75).contains(&self.ago()) { 0 } else { 2 };
            let body = json!({
                "required_pull_request_reviews": {"required_approving_review_count": reviews},
                "allow_force_pushes": {"enabled": false}, "allow_deletions": {"enabled": false},
            });
            (200, json_headers, body)
        } else if url.contains("backups") {
            let hours = if (33..40).contains(&self.ago()) { 61 } else { 7 };
            (
                200,
                json_headers,
                json!({"system": "fleet-db", "ageHours": hours, "sizeGiB": 412 + self.ago() / 9}),
            )
        } else if url.contains("status") {
            let (code, word) =
                if (84..91).contains(&self.ago()) { (503, "degraded") } else { (200, "operational") };
            (code, json_headers, json!({"status": word}))
        } else {
            self.page()
        };
        let body = if body.is_null() { "<!doctype html>".to_owned() } else { body.to_string() };
        json!({
            "status": status, "statusText": "", "url": url, "redirected": false,
            "headers": headers, "body": STANDARD.encode(body),
        })
    }

    fn dns(&self, name: &str, kind: &str) -> Value {
        let dmarc = if self.ago() > 210 { "v=DMARC1; p=none" } else { "v=DMARC1; p=quarantine" };
        let records = match kind {
            "TXT" if name.starts_with("_dmarc.") => json!([dmarc]),
            "TXT" => json!(["v=spf1 include:_spf.northwind.example -all"]),
            "CAA" => json!([{"critical": false, "tag": "issue", "value": "ca.example"}]),
            "MX" => json!([{"preference": 10, "exchange": "mx.northwind.example"}]),
            _ => json!([]),
        };
        json!({"name": name, "type": kind, "exists": true, "records": records})
    }

    fn tls(&self, host: &str, port: &Value) -> Value {
        // Renewed three weeks before it expires, except once, when only a few days were left.
        let age = (self.ago() + 11).rem_euclid(CERTIFICATE - 21);
        let since = if (44..51).contains(&self.ago()) { CERTIFICATE - 9 } else { CERTIFICATE - 21 - age };
        let day = |days: i64| -> Time { Date::of(self.clock.now()).plus_days(days).start() };
        json!({
            "host": host, "port": port, "address": "203.0.113.17", "protocol": "TLS 1.3", "trusted": true, "problem": null,
            "chainLength": 2,
            "certificate": {
                "subject": format!("CN={host}"), "issuer": "CN=Example CA R3,O=Example CA", "dnsNames": [host],
                "notBefore": day(-since), "notAfter": day(CERTIFICATE - since),
                "serialNumber": "04a1b2c3", "sha256": "a3".repeat(32),
            },
        })
    }
}

impl Answers for Outside {
    fn answer(&self, operation: &str, argument: Value) -> Result<Value, String> {
        // Simulates a realistic latency.
        self.clock.advance(Duration::from_millis(140 + u64::try_from(self.ago() * 37 % 190).unwrap_or(0)));
        let word = |name: &str| argument[name].as_str().unwrap_or_default();
        match operation {
            "fetch" => Ok(self.fetch(word("url"))),
            "dns" => Ok(self.dns(word("name"), word("type"))),
            "tls" => Ok(self.tls(word("host"), &argument["port"])),
            other => Err(format!("There is no call {other}.")),
        }
    }
}

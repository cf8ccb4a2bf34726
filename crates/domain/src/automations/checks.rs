//! The built-in checks: scripts that are configured with parameters, without writing JavaScript.

use serde_json::{Map, Value, json};
use url::Url;

use crate::automations::hosts::{AllowedHosts, canonical};
use crate::automations::secrets::SecretName;
use crate::json::numbers::whole;
use crate::text::Parse;

/// The type of a parameter.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The name of a host.
    Host,
    /// An http or https URL.
    Url,
    Integer(i64, i64),
    /// Text with a maximum length in characters.
    Text(usize),
    /// `owner/name`
    Repository,
    /// A JSON Pointer.
    Pointer,
    /// The name of a secret of the organization.
    Secret,
    /// A text, a number, true or false.
    Scalar,
    /// One or more of these words.
    Words(&'static [&'static str]),
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug)]
enum ParameterDefault {
    Required,
    Null,
    Integer(i64),
    Text(&'static str),
    /// All the words.
    All,
}

#[derive(Clone, Copy, Debug)]
struct Parameter {
    name: &'static str,
    kind: Kind,
    otherwise: ParameterDefault,
    about: &'static str,
}

/// A built-in check.
#[derive(Debug)]
pub struct Check {
    /// Its identifier in the API.
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    parameters: &'static [Parameter],
    pub script: &'static str,
}

macro_rules! script {
    ($name:literal) => {
        include_str!(concat!("../../data/checks/", $name, ".js"))
    };
}

const fn parameter(
    name: &'static str,
    kind: Kind,
    otherwise: ParameterDefault,
    about: &'static str,
) -> Parameter {
    Parameter { name, kind, otherwise, about }
}

pub const CHECKS: &[Check] = &[
    Check {
        name: "tls_certificate",
        title: "TLS certificate",
        description: "The certificate of a server is trusted and does not expire soon.",
        parameters: &[
            parameter("host", Kind::Host, ParameterDefault::Required, "The server's name."),
            parameter("port", Kind::Integer(1, 65_535), ParameterDefault::Integer(443), "Its port."),
            parameter(
                "minDaysLeft",
                Kind::Integer(0, 3650),
                ParameterDefault::Integer(30),
                "For how many days the certificate must still be valid.",
            ),
        ],
        script: script!("tls_certificate"),
    },
    Check {
        name: "security_headers",
        title: "HTTP security headers",
        description: "A web page is sent with the headers that protect its visitors.",
        parameters: &[
            parameter("url", Kind::Url, ParameterDefault::Required, "The page."),
            parameter(
                "headers",
                Kind::Words(&[
                    "strict-transport-security",
                    "content-security-policy",
                    "x-content-type-options",
                    "x-frame-options",
                    "referrer-policy",
                ]),
                ParameterDefault::All,
                "The headers that are required; all of them, if it is left out.",
            ),
        ],
        script: script!("security_headers"),
    },
    Check {
        name: "dns_records",
        title: "DNS records for mail and certificates",
        description: "A domain says who may send its mail (SPF, DMARC), who may issue its certificates (CAA) and where its mail goes (MX).",
        parameters: &[
            parameter("domain", Kind::Host, ParameterDefault::Required, "The domain."),
            parameter(
                "records",
                Kind::Words(&["spf", "dmarc", "caa", "mx"]),
                ParameterDefault::All,
                "The records that are required; all of them, if it is left out.",
            ),
        ],
        script: script!("dns_records"),
    },
    Check {
        name: "http_endpoint",
        title: "HTTP endpoint",
        description: "An address answers with a status and, if asked for, a value in its JSON.",
        parameters: &[
            parameter("url", Kind::Url, ParameterDefault::Required, "The address."),
            parameter(
                "expectedStatus",
                Kind::Integer(100, 599),
                ParameterDefault::Integer(200),
                "The status.",
            ),
            parameter(
                "jsonPointer",
                Kind::Pointer,
                ParameterDefault::Null,
                "The place of the value in the JSON, as a JSON Pointer such as /status.",
            ),
            parameter(
                "expectedValue",
                Kind::Scalar,
                ParameterDefault::Null,
                "The value; if it is left out, any value will do.",
            ),
        ],
        script: script!("http_endpoint"),
    },
    Check {
        name: "branch_protection",
        title: "Branch protection",
        description: "A repository at GitHub, or at what speaks its REST API, protects a branch and requires reviews.",
        parameters: &[
            parameter("repository", Kind::Repository, ParameterDefault::Required, "owner/name"),
            parameter("branch", Kind::Text(255), ParameterDefault::Text("main"), "The branch."),
            parameter(
                "baseUrl",
                Kind::Url,
                ParameterDefault::Text("https://api.github.com"),
                "The address of the API.",
            ),
            parameter(
                "tokenSecret",
                Kind::Secret,
                ParameterDefault::Null,
                "The secret that holds an access token. The host of baseUrl must then be on the list of automation hosts.",
            ),
            parameter(
                "minReviews",
                Kind::Integer(0, 6),
                ParameterDefault::Integer(1),
                "The number of approving reviews that must be required.",
            ),
        ],
        script: script!("branch_protection"),
    },
];

/// Finds a check by name. The error lists the valid names.
pub fn find(name: &str) -> Result<&'static Check, String> {
    CHECKS.iter().find(|check| check.name == name).ok_or_else(|| {
        let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
        format!("must be one of: {}", names.join(", "))
    })
}

impl Kind {
    fn schema(self) -> Value {
        match self {
            Self::Host => json!({"type": "string", "format": "hostname"}),
            Self::Url => json!({"type": "string", "format": "uri", "pattern": "^https?://"}),
            Self::Integer(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Self::Text(most) => json!({"type": "string", "minLength": 1, "maxLength": most}),
            Self::Repository => json!({"type": "string", "pattern": "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$"}),
            Self::Pointer => json!({"type": ["string", "null"], "pattern": "^/"}),
            Self::Secret => json!({"type": ["string", "null"], "pattern": "^[A-Z0-9_]{1,64}$"}),
            Self::Scalar => json!({"type": ["string", "number", "boolean", "null"]}),
            Self::Words(words) => {
                json!({"type": "array", "items": {"type": "string", "enum": words}, "minItems": 1})
            }
        }
    }

    /// Validates a value and converts it to the form that the script gets.
    fn read(self, value: &Value) -> Result<Value, String> {
        let text = || value.as_str().ok_or_else(|| "must be a string".to_owned());
        match self {
            Self::Host => canonical(text()?.trim())
                .filter(|host| host.contains('.') || host == "localhost" || host.starts_with('['))
                .map(Value::from)
                .ok_or_else(|| "must be the name of a host, such as www.example.com".to_owned()),
            Self::Url => match Url::parse(text()?.trim()) {
                Ok(url) if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() => {
                    Err("must be an address that begins with https:// or http://".to_owned())
                }
                Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                    Err("must not hold a user name or a password".to_owned())
                }
                Ok(url) => Ok(Value::from(url.as_str())),
                Err(_) => Err("must be an address such as https://www.example.com/".to_owned()),
            },
            Self::Integer(least, most) => match whole(value) {
                Some(number) if (least..=most).contains(&number) => Ok(Value::from(number)),
                _ => Err(format!("must be a whole number from {least} to {most}")),
            },
            Self::Text(most) => {
                let text = text()?.trim();
                let fits = (1..=most).contains(&text.chars().count()) && !text.chars().any(char::is_control);
                fits.then(|| Value::from(text))
                    .ok_or_else(|| format!("must have 1 to {most} characters in one line"))
            }
            Self::Repository => {
                let fine = |part: &str| {
                    (1..=100).contains(&part.len())
                        && !matches!(part, "." | "..")
                        && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
                };
                match text()?.split_once('/') {
                    Some((owner, name)) if fine(owner) && fine(name) => Ok(value.clone()),
                    _ => Err("must be a repository such as owner/name".to_owned()),
                }
            }
            Self::Pointer => {
                let text = text()?;
                let mut parts = text.split('~').skip(1);
                let fits = text.starts_with('/')
                    && text.len() <= 500
                    && !text.contains('\0')
                    && parts.all(|rest| rest.starts_with(['0', '1']));
                fits.then(|| Value::from(text))
                    .ok_or_else(|| "must be a JSON Pointer such as /status".to_owned())
            }
            Self::Secret => SecretName::parse(text()?).map(|name| Value::from(name.as_str())),
            Self::Scalar => match value {
                Value::String(text) if text.contains('\0') => {
                    Err("must not contain a NUL character".to_owned())
                }
                Value::String(text) if text.len() > 1000 => {
                    Err("must have at most 1000 characters".to_owned())
                }
                Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(value.clone()),
                _ => Err("must be a string, a number, true or false".to_owned()),
            },
            Self::Words(words) => {
                let wrong = || format!("must be a list of one or more of: {}", words.join(", "));
                let items = value.as_array().filter(|items| !items.is_empty()).ok_or_else(wrong)?;
                let known = |word: &&'static str| items.iter().any(|item| item.as_str() == Some(word));
                let is_known = |item: &Value| item.as_str().is_some_and(|item| words.contains(&item));
                if !items.iter().all(is_known) {
                    return Err(wrong());
                }
                Ok(words.iter().filter(|word| known(word)).copied().collect())
            }
        }
    }
}

impl Parameter {
    fn default(&self) -> Option<Value> {
        match (self.otherwise, self.kind) {
            (ParameterDefault::Required, _) => None,
            (ParameterDefault::Integer(number), _) => Some(Value::from(number)),
            (ParameterDefault::Text(text), _) => Some(Value::from(text)),
            (ParameterDefault::All, Kind::Words(words)) => Some(words.iter().copied().collect()),
            (ParameterDefault::Null | ParameterDefault::All, _) => Some(Value::Null),
        }
    }
}

impl Check {
    /// The parameters as a JSON Schema.
    pub fn schema(&self) -> Value {
        let mut properties = Map::new();
        for one in self.parameters {
            let mut schema = one.kind.schema();
            schema["description"] = Value::from(one.about);
            if let Some(default) = one.default() {
                schema["default"] = default;
            }
            properties.insert(one.name.to_owned(), schema);
        }
        let required =
            self.parameters.iter().filter(|one| matches!(one.otherwise, ParameterDefault::Required));
        json!({
            "type": "object", "additionalProperties": false, "properties": properties,
            "required": required.map(|one| one.name).collect::<Vec<_>>()
        })
    }

    /// Validates the parameters and fills in defaults. The error has a message for each invalid parameter.
    pub fn read(&self, given: &Map<String, Value>) -> Result<Value, Vec<(String, String)>> {
        let (mut read, mut wrong) = (Map::new(), Vec::new());
        for one in self.parameters {
            let value = match (given.get(one.name), one.default()) {
                (None, None) => Err("is required".to_owned()),
                (None | Some(Value::Null), Some(default)) => Ok(default),
                (Some(value), _) => one.kind.read(value),
            };
            match value {
                Ok(value) => {
                    read.insert(one.name.to_owned(), value);
                }
                Err(message) => wrong.push((one.name.to_owned(), message)),
            }
        }
        for name in given.keys().filter(|name| !self.parameters.iter().any(|one| one.name == *name)) {
            wrong.push((name.clone(), "is not a parameter of this check".to_owned()));
        }
        if wrong.is_empty() { Ok(Value::Object(read)) } else { Err(wrong) }
    }

    /// The hosts that the parameters name, which are permitted without an entry in the organization's list. A check
    /// that sends a secret gets none, so its hosts must be on the list.
    pub fn hosts(&self, parameters: &Value) -> AllowedHosts {
        let is_secret = |one: &Parameter| {
            matches!(one.kind, Kind::Secret) && parameters.get(one.name).is_some_and(Value::is_string)
        };
        if self.parameters.iter().any(is_secret) {
            return AllowedHosts::default();
        }
        let mut entries: Vec<String> = Vec::new();
        for one in self.parameters {
            let Some(text) = parameters.get(one.name).and_then(Value::as_str) else { continue };
            match one.kind {
                Kind::Host => {
                    let port = parameters.get("port").and_then(Value::as_i64).unwrap_or(443);
                    entries.push(format!("{text}:{port}"));
                }
                Kind::Url => {
                    let Ok(url) = Url::parse(text) else { continue };
                    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
                        continue;
                    };
                    entries.push(format!("{}://{host}:{port}", url.scheme()));
                    entries.push(host.to_owned());
                }
                _ => {}
            }
        }
        AllowedHosts::parse(entries).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(check: &str, given: Value) -> Result<Value, Vec<(String, String)>> {
        let Value::Object(given) = given else { return Err(Vec::new()) };
        find(check).expect("a check").read(&given)
    }

    #[test]
    fn parameters_get_their_defaults() {
        let tls = read("tls_certificate", json!({"host": "Example.COM"})).expect("parameters");
        assert_eq!(tls, json!({"host": "example.com", "port": 443, "minDaysLeft": 30}));
        let dns = read("dns_records", json!({"domain": "example.com", "records": ["mx", "spf"]}));
        assert_eq!(dns.expect("parameters")["records"], json!(["spf", "mx"]));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let names = |wrong: Result<Value, Vec<(String, String)>>| {
            wrong.expect_err("wrong").into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(read("tls_certificate", json!({"port": 0, "x": 1}))), ["host", "port", "x"]);
        assert_eq!(
            names(read("http_endpoint", json!({"url": "ftp://x", "expectedStatus": "200"}))),
            ["url", "expectedStatus"]
        );
        assert_eq!(
            names(read("branch_protection", json!({"repository": "a/../b", "tokenSecret": "x"}))),
            ["repository", "tokenSecret"]
        );
        assert_eq!(
            names(read("dns_records", json!({"domain": "example.com", "records": ["ns"]}))),
            ["records"]
        );
        assert!(find("nothing").is_err());
    }

    #[test]
    fn a_check_reaches_the_host_it_names() {
        let permits = |check: &str, given: Value, url: &str| {
            let check = find(check).expect("a check");
            let parameters = check.read(given.as_object().expect("an object")).expect("parameters");
            check.hosts(&parameters).permits_url(&Url::parse(url).expect("a URL"))
        };
        let page = json!({"url": "http://example.com:8080/x"});
        assert!(permits("http_endpoint", page.clone(), "http://example.com:8080/y"));
        assert!(permits("http_endpoint", page.clone(), "https://example.com/"));
        assert!(!permits("http_endpoint", page, "https://other.example.com/"));
        let repository = json!({"repository": "a/b", "tokenSecret": "TOKEN"});
        assert!(
            !permits("branch_protection", repository, "https://api.github.com/"),
            "a secret asks for the list"
        );
        assert!(permits("branch_protection", json!({"repository": "a/b"}), "https://api.github.com/"));
    }
}

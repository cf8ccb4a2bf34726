//! A passkey in software, which can also be made to misbehave, and the codes of an authenticator app.

use std::process::Command;

use attestry_domain::Time;
use attestry_domain::hash::sha256;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use totp_rs::{Builder, Secret};

/// The code that an authenticator app shows at a time.
pub fn code_at(secret: &str, time: Time) -> String {
    let secret = Secret::try_from_base32(secret).expect("Base32");
    let totp =
        Builder::new().with_secret(secret).with_account_name("test".to_owned()).build().expect("a secret");
    totp.generate(time.as_millis().unsigned_abs() / 1000).to_string()
}

/// The codes of `count` time steps, beginning with that of a time, as Debian's `oathtool` computes them.
pub fn codes_by_oathtool(secret: &str, from: Time, count: usize) -> Vec<String> {
    let output = Command::new("oathtool")
        .args(["--totp", "-b", "-N", &format!("@{}", from.as_millis() / 1000)])
        .args(["-w", &(count - 1).to_string(), secret])
        .output()
        .expect("oathtool is not installed: run `make deps`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let codes = String::from_utf8(output.stdout).expect("text");
    codes.lines().map(str::to_owned).collect()
}

/// User present, user verified.
const VERIFIED: u8 = 0b101;
/// Attested credential data follow.
const ATTESTED: u8 = 0b100_0000;

/// A byte string in CBOR.
fn byte_string(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("a short string").to_be_bytes();
    let head = match length {
        [0, short @ 0..24] => vec![0x40 | short],
        [0, long] => vec![0x58, long],
        [high, low] => vec![0x59, high, low],
    };
    [head, bytes.to_vec()].concat()
}

/// The COSE key of a point of P-256: `{1: 2, 3: -7, -1: 1, -2: x, -3: y}`.
fn p256_key(x: &[u8], y: &[u8]) -> Vec<u8> {
    [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21][..], &byte_string(x), &[0x22], &byte_string(y)].concat()
}

/// The COSE key of a new Ed25519 key: `{1: 1, 3: -8, -1: 6, -2: x}`.
pub fn ed25519_key() -> Vec<u8> {
    let key = Ed25519KeyPair::generate().expect("a key");
    [&[0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21][..], &byte_string(key.public_key().as_ref())].concat()
}

/// The COSE key of an RSA key with this modulus and the exponent 65537: `{1: 3, 3: -257, -1: n, -2: e}`.
pub fn rsa_key(modulus: &[u8]) -> Vec<u8> {
    let exponent = byte_string(&[1, 0, 1]);
    [&[0xa4, 1, 3, 3, 0x39, 1, 0, 0x20][..], &byte_string(modulus), &[0x21], &exponent].concat()
}

/// The two numbers of an ECDSA signature in DER side by side, each with 32 bytes.
fn side_by_side(der: &[u8]) -> Vec<u8> {
    let number = |at: usize| {
        let digits = &der[at + 2..at + 2 + usize::from(der[at + 1])];
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let digits = &digits[zeros..];
        [&vec![0; 32 - digits.len()][..], digits].concat()
    };
    // SEQUENCE, length, INTEGER, length, r, INTEGER, length, s
    [number(2), number(4 + usize::from(der[3]))].concat()
}

/// An authenticator with one key, for one site.
#[derive(Debug)]
pub struct Authenticator {
    key: EcdsaKeyPair,
    pub credential_id: Vec<u8>,
    pub user_handle: Vec<u8>,
    pub origin: &'static str,
    pub site: &'static str,
    pub flags: u8,
    pub counter: u32,
    pub cross_origin: bool,
    /// The origin of the page that has the site in a frame.
    pub top_origin: Option<&'static str>,
    /// The COSE key that is registered in place of its own.
    pub public_key: Option<Vec<u8>>,
    /// The bytes after the attestation object.
    pub trailing_bytes: Vec<u8>,
    /// True if it signs in the form of JWS, `r || s`, in place of DER.
    pub has_raw_signatures: bool,
}

fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decoded(text: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(text.as_str().expect("a text")).expect("base64url")
}

impl Authenticator {
    pub fn new(origin: &'static str, site: &'static str, credential_id: &[u8]) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).expect("a key");
        Self {
            key,
            credential_id: credential_id.to_vec(),
            user_handle: Vec::new(),
            origin,
            site,
            flags: VERIFIED,
            counter: 0,
            cross_origin: false,
            top_origin: None,
            public_key: None,
            trailing_bytes: Vec::new(),
            has_raw_signatures: false,
        }
    }

    /// Registers a point that is not on the curve from now on.
    pub fn leave_the_curve(&mut self) {
        let mut point = self.key.public_key().as_ref().to_vec();
        point[64] ^= 1;
        self.public_key = Some(p256_key(&point[1..33], &point[33..]));
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> Vec<u8> {
        let mut data = json!({
            "type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": self.cross_origin
        });
        if let Some(origin) = self.top_origin {
            data["topOrigin"] = json!(origin);
        }
        data.to_string().into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        [&sha256(self.site.as_bytes())[..], &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// Makes the credential that the options ask for.
    pub fn create(&mut self, options: &Value) -> Value {
        self.user_handle = decoded(&options["user"]["id"]);
        let point = self.key.public_key().as_ref();
        let cose = self.public_key.clone().unwrap_or_else(|| p256_key(&point[1..33], &point[33..]));
        let length = u16::try_from(self.credential_id.len()).expect("a short id").to_be_bytes();
        let data =
            [&self.data(self.flags | ATTESTED)[..], &[0; 16], &length, &self.credential_id, &cose].concat();
        // {"fmt": "none", "attStmt": {}, "authData": data}
        let object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData";
        let attestation = [&object[..], &byte_string(&data), &self.trailing_bytes].concat();
        let client = self.client_data("webauthn.create", &options["challenge"]);
        json!({
            "id": encoded(&self.credential_id), "rawId": encoded(&self.credential_id), "type": "public-key",
            "response": {
                "clientDataJSON": encoded(&client), "attestationObject": encoded(&attestation), "transports": ["internal"]
            },
            "authenticatorAttachment": "platform", "clientExtensionResults": {"credProps": {"rk": true}}
        })
    }

    /// Signs the challenge of the options.
    pub fn get(&mut self, options: &Value) -> Value {
        let data = self.data(self.flags);
        let client = self.client_data("webauthn.get", &options["challenge"]);
        let signed = [&data[..], &sha256(&client)].concat();
        let signature = self.key.sign(&SystemRandom::new(), &signed).expect("a signature");
        let signature = match self.has_raw_signatures {
            true => side_by_side(signature.as_ref()),
            false => signature.as_ref().to_vec(),
        };
        json!({
            "id": encoded(&self.credential_id), "rawId": encoded(&self.credential_id), "type": "public-key",
            "response": {
                "clientDataJSON": encoded(&client), "authenticatorData": encoded(&data),
                "signature": encoded(&signature), "userHandle": encoded(&self.user_handle)
            },
            "authenticatorAttachment": "platform", "clientExtensionResults": {}
        })
    }
}

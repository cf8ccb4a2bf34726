//! A passkey in software, which can also be made to misbehave, and the codes of an authenticator app.

use attestry_domain::Time;
use attestry_domain::hash::sha256;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
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

/// User present, user verified.
const VERIFIED: u8 = 0b101;
/// Attested credential data follow.
const ATTESTED: u8 = 0b100_0000;

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
        }
    }

    fn client_data(&self, kind: &str, challenge: &Value) -> Vec<u8> {
        let data = json!({
            "type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": self.cross_origin
        });
        data.to_string().into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        [&sha256(self.site.as_bytes())[..], &[flags], &self.counter.to_be_bytes()].concat()
    }

    /// Makes the credential that the options ask for.
    pub fn create(&mut self, options: &Value) -> Value {
        self.user_handle = decoded(&options["user"]["id"]);
        let point = self.key.public_key().as_ref();
        // {1: 2, 3: -7, -1: 1, -2: x, -3: y}
        let cose =
            [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32], &point[1..33], &[0x22, 0x58, 32], &point[33..]];
        let length = u16::try_from(self.credential_id.len()).expect("a short id").to_be_bytes();
        let data =
            [&self.data(self.flags | ATTESTED)[..], &[0; 16], &length, &self.credential_id, &cose.concat()]
                .concat();
        // {"fmt": "none", "attStmt": {}, "authData": data}
        let size = u16::try_from(data.len()).expect("short data").to_be_bytes();
        let attestation = [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59", &size[..], &data].concat();
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
        json!({
            "id": encoded(&self.credential_id), "rawId": encoded(&self.credential_id), "type": "public-key",
            "response": {
                "clientDataJSON": encoded(&client), "authenticatorData": encoded(&data),
                "signature": encoded(signature.as_ref()), "userHandle": encoded(&self.user_handle)
            },
            "authenticatorAttachment": "platform", "clientExtensionResults": {}
        })
    }
}

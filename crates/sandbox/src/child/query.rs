//! `URL` and `URLSearchParams`.

#![expect(clippy::needless_pass_by_value, reason = "the engine hands over what it passes")]

use rquickjs::{Ctx, Object, Result};
use url::{Url, form_urlencoded, quirks};

/// Parses a URL into its parts; `None` if it is invalid.
pub(super) fn url(ctx: Ctx<'_>, text: String, base: Option<String>) -> Result<Option<Object<'_>>> {
    let base = match base.as_deref().map(Url::parse) {
        Some(Err(_)) => return Ok(None),
        Some(Ok(base)) => Some(base),
        None => None,
    };
    match Url::options().base_url(base.as_ref()).parse(&text) {
        Ok(url) => parts(&ctx, &url).map(Some),
        Err(_) => Ok(None),
    }
}

/// Sets a part of a URL and returns all parts. An invalid value changes nothing.
pub(super) fn url_with(
    ctx: Ctx<'_>,
    href: String,
    part: String,
    value: String,
) -> Result<Option<Object<'_>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    let set = match part.as_str() {
        "href" => quirks::set_href(&mut url, &value).map_err(|_| ()),
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    match set {
        Err(()) if part == "href" => Ok(None),
        _ => parts(&ctx, &url).map(Some),
    }
}

fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Object<'js>> {
    let parts = Object::new(ctx.clone())?;
    parts.set("href", quirks::href(url))?;
    parts.set("origin", quirks::origin(url))?;
    parts.set("protocol", quirks::protocol(url))?;
    parts.set("username", quirks::username(url))?;
    parts.set("password", quirks::password(url))?;
    parts.set("host", quirks::host(url))?;
    parts.set("hostname", quirks::hostname(url))?;
    parts.set("port", quirks::port(url))?;
    parts.set("pathname", quirks::pathname(url))?;
    parts.set("search", quirks::search(url))?;
    parts.set("hash", quirks::hash(url))?;
    Ok(parts)
}

pub(super) fn parse(query: String) -> Vec<Vec<String>> {
    form_urlencoded::parse(query.as_bytes())
        .map(|(name, value)| vec![name.into_owned(), value.into_owned()])
        .collect()
}

pub(super) fn format(pairs: Vec<Vec<String>>) -> String {
    let pairs = pairs.iter().filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

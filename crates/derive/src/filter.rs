//! `#[derive(Filter)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Field, Ident, LitStr, Result};

use crate::text::{about, argument_of, wire_name};

/// The code of a condition: its place in the table, its part of reading, and its name.
fn condition(field: &Field) -> Result<(TokenStream, TokenStream, &Ident)> {
    let Some(name) = &field.ident else {
        return Err(Error::new_spanned(field, "a filter has named fields"));
    };
    let Some(value) = argument_of(&field.ty, "Option") else {
        return Err(Error::new_spanned(field, "a condition is an `Option`"));
    };
    let is_any_of = argument_of(value, "AnyOf").is_some();
    let mut column = name.to_string();
    let mut compare = if is_any_of { quote!(AnyOf) } else { quote!(Is) };
    for attribute in field.attrs.iter().filter(|one| one.path().is_ident("filter")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("has") {
                compare = quote!(Has);
            } else if meta.path.is_ident("at_least") {
                compare = quote!(AtLeast);
            } else {
                return Err(meta.error("expected `has` or `at_least`"));
            }
            column = meta.value()?.parse::<LitStr>()?.value();
            Ok(())
        })?;
    }
    let (wire, about) = (wire_name(name), about(&field.attrs));
    let read = if is_any_of { quote!(query.several(#wire)) } else { quote!(query.get(#wire)) };
    let entry = quote!(crate::registers::Condition {
        wire: #wire,
        about: #about,
        schema: <#value as crate::json::JsonSchema>::json_schema,
        column: #column,
        compare: crate::registers::Compare::#compare,
        kind: <#value as crate::plain::Keep>::KIND,
    });
    Ok((entry, read, name))
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "only a struct is a filter"));
    };
    let conditions: Vec<_> = data.fields.iter().map(condition).collect::<Result<_>>()?;
    let own = &input.ident;
    let entries = conditions.iter().map(|(entry, ..)| entry);
    let reads = conditions.iter().map(|(_, read, name)| quote!(#name: #read));
    let names = conditions.iter().map(|(.., name)| name);
    Ok(quote! {
        impl crate::registers::Filter for #own {
            const CONDITIONS: &'static [crate::registers::Condition] = &[#(#entries),*];

            fn read<Q: crate::json::GivenQuery>(query: &mut Q) -> Self {
                Self { #(#reads),* }
            }

            fn values(&self) -> ::std::vec::Vec<crate::plain::Plain<'_>> {
                ::std::vec![#(crate::plain::Keep::plain(&self.#names)),*]
            }
        }
    })
}

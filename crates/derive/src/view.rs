//! `#[derive(View)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parse;
use syn::{Attribute, Data, DeriveInput, Error, Expr, Field, Result, Type};

/// The argument of `#[view(…)]`.
fn argument<T: Parse>(attributes: &[Attribute]) -> Result<Option<T>> {
    attributes.iter().find(|one| one.path().is_ident("view")).map(Attribute::parse_args).transpose()
}

fn value(field: &Field) -> Result<TokenStream> {
    let Some(name) = &field.ident else {
        return Err(Error::new_spanned(field, "a view has named fields"));
    };
    Ok(match argument::<Expr>(&field.attrs)? {
        Some(value) => quote!(#name: #value),
        None => quote!(#name: one.#name),
    })
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let (Data::Struct(data), Some(entity)) = (&input.data, argument::<Type>(&input.attrs)?) else {
        return Err(Error::new_spanned(input, "a view is a struct with `#[view(Entity)]`"));
    };
    let (own, values) = (&input.ident, data.fields.iter().map(value).collect::<Result<Vec<_>>>()?);
    Ok(quote! {
        impl ::std::convert::From<#entity> for #own {
            fn from(one: #entity) -> Self {
                Self { #(#values),* }
            }
        }
    })
}

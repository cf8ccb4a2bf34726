//! `#[derive(Fields)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Ident, LitStr, Result, Type};

use crate::text::{about, argument_of, wire_name};

/// The input mode of a field.
enum Mode {
    Required,
    Default,
    Reset,
    Nullable,
    Own,
}

struct Parts<'a> {
    name: &'a Ident,
    ty: &'a Type,
    /// The type without `Option`.
    value: &'a Type,
    wire: String,
    about: String,
    mode: Mode,
}

impl<'a> Parts<'a> {
    fn of(field: &'a Field) -> Result<Self> {
        let Some(name) = &field.ident else {
            return Err(Error::new_spanned(field, "a register has named fields"));
        };
        let (mut given, mut wire) = (None, wire_name(name));
        for attribute in field.attrs.iter().filter(|one| one.path().is_ident("field")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("default") {
                    given = Some(Mode::Default);
                } else if meta.path.is_ident("reset") {
                    given = Some(Mode::Reset);
                } else if meta.path.is_ident("own") {
                    given = Some(Mode::Own);
                } else if meta.path.is_ident("wire") {
                    wire = meta.value()?.parse::<LitStr>()?.value();
                } else {
                    return Err(meta.error("expected `default`, `reset`, `own` or `wire`"));
                }
                Ok(())
            })?;
        }
        let inner = argument_of(&field.ty, "Option");
        let mode = match (given, inner) {
            (Some(Mode::Default | Mode::Reset), Some(_)) => {
                return Err(Error::new_spanned(field, "an `Option` has no other default than null"));
            }
            (Some(mode), _) => mode,
            (None, Some(_)) => Mode::Nullable,
            (None, None) => Mode::Required,
        };
        let about = about(&field.attrs);
        Ok(Self { name, ty: &field.ty, value: inner.unwrap_or(&field.ty), wire, about, mode })
    }

    /// Its place in the table of fields.
    fn entry(&self) -> TokenStream {
        let Self { name, ty, value, wire, about, mode } = self;
        let is_nullable = argument_of(ty, "Option").is_some();
        let default = match mode {
            Mode::Default | Mode::Reset => quote!(::std::option::Option::Some(|| {
                ::serde_json::json!(crate::plain::Keep::plain(&<#value as ::std::default::Default>::default()))
            })),
            _ => quote!(::std::option::Option::None),
        };
        let mode = match mode {
            Mode::Required => quote!(Required),
            Mode::Default => quote!(Default),
            Mode::Reset => quote!(Reset),
            Mode::Nullable => quote!(Nullable),
            Mode::Own => quote!(Own),
        };
        quote!(crate::registers::Field {
            wire: #wire,
            column: ::std::stringify!(#name),
            mode: crate::registers::Mode::#mode,
            is_nullable: #is_nullable,
            kind: <#value as crate::plain::Keep>::KIND,
            about: #about,
            schema: <#value as crate::json::JsonSchema>::json_schema,
            default: #default,
        })
    }

    /// Its field in the patch, if callers can give it.
    fn given(&self) -> Option<TokenStream> {
        let Self { name, value, about, mode, .. } = self;
        let ty = match mode {
            Mode::Own => return None,
            Mode::Reset | Mode::Nullable => quote!(crate::Patch<#value>),
            Mode::Required | Mode::Default => quote!(::std::option::Option<#value>),
        };
        Some(quote!(#[doc = #about] pub #name: #ty))
    }

    /// The statement that reads it from a body.
    fn read(&self) -> TokenStream {
        let Self { name, wire, mode, .. } = self;
        match mode {
            Mode::Required => quote! {
                let #name = if whole { body.required(#wire).map(Some) } else { body.optional(#wire) };
            },
            Mode::Default => quote!(let #name = body.optional(#wire);),
            // Null is not a value: it takes back what was set.
            Mode::Reset => quote! {
                let #name = if whole {
                    body.optional(#wire).map(|given| given.map_or(crate::Patch::Absent, crate::Patch::Value))
                } else {
                    body.nullable(#wire)
                };
            },
            Mode::Nullable => quote!(let #name = body.nullable(#wire);),
            Mode::Own => quote!(let #name = body.not_given(#wire);),
        }
    }

    fn created(&self) -> TokenStream {
        let name = self.name;
        match self.mode {
            Mode::Required => quote!(#name: patch.#name?),
            Mode::Default => quote!(#name: patch.#name.unwrap_or_default()),
            Mode::Reset => quote!(#name: patch.#name.into_option().unwrap_or_default()),
            Mode::Nullable => quote!(#name: patch.#name.into_option()),
            Mode::Own => quote!(#name: ::std::default::Default::default()),
        }
    }

    fn patched(&self) -> TokenStream {
        let name = self.name;
        match self.mode {
            Mode::Required | Mode::Default => {
                quote!(#name: patch.#name.unwrap_or_else(|| self.#name.clone()))
            }
            Mode::Reset => quote!(#name: patch.#name.apply_or_default(self.#name.clone())),
            Mode::Nullable => quote!(#name: patch.#name.apply(self.#name.clone())),
            Mode::Own => quote!(#name: self.#name.clone()),
        }
    }

    /// The value in a recorded state; the default in states older than the field.
    fn recorded(&self) -> TokenStream {
        let Self { name, wire, mode, .. } = self;
        match mode {
            Mode::Default | Mode::Reset | Mode::Own => quote! {
                #name: crate::registers::take::<::std::option::Option<_>>(state, #wire)?.unwrap_or_default()
            },
            Mode::Required | Mode::Nullable => quote!(#name: crate::registers::take(state, #wire)?),
        }
    }
}

pub(crate) fn derive(input: &DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(input, "only a struct has fields"));
    };
    let parts: Vec<Parts<'_>> = data.fields.iter().map(Parts::of).collect::<Result<_>>()?;
    let own = &input.ident;
    let patch = format_ident!("{own}Patch");
    let about = format!("The given fields of a [`{own}`].");
    let given: Vec<&Ident> =
        parts.iter().filter(|part| !matches!(part.mode, Mode::Own)).map(|part| part.name).collect();
    let set: Vec<&Ident> =
        parts.iter().filter(|part| matches!(part.mode, Mode::Own)).map(|part| part.name).collect();
    let given_types = parts.iter().filter_map(Parts::given);
    let entries = parts.iter().map(Parts::entry);
    let reads = parts.iter().map(Parts::read);
    let (created, patched) = (parts.iter().map(Parts::created), parts.iter().map(Parts::patched));
    let recorded = parts.iter().map(Parts::recorded);
    let (names, wires) = (parts.iter().map(|part| part.name), parts.iter().map(|part| &part.wire));
    let fields = parts.iter().map(|part| part.name);
    Ok(quote! {
        #[doc = #about]
        #[derive(Clone, Debug, Default)]
        pub struct #patch { #(#given_types),* }

        impl crate::registers::Fields for #own {
            type Patch = #patch;

            const FIELDS: &'static [crate::registers::Field] = &[#(#entries),*];

            fn given_in<B: crate::json::GivenBody>(
                body: &mut B,
                whole: bool,
            ) -> ::std::option::Option<#patch> {
                #(#reads)*
                #(#set?;)*
                ::std::option::Option::Some(#patch { #(#given: #given?),* })
            }

            fn given(patch: #patch) -> ::std::option::Option<Self> {
                ::std::option::Option::Some(Self { #(#created),* })
            }

            fn patched(&self, patch: #patch) -> Self {
                Self { #(#patched),* }
            }

            fn recorded(
                state: &mut ::serde_json::Map<::std::string::String, ::serde_json::Value>,
            ) -> ::std::result::Result<Self, ::serde_json::Error> {
                ::std::result::Result::Ok(Self { #(#recorded),* })
            }

            fn write<M: ::serde::ser::SerializeMap>(
                &self,
                map: &mut M,
            ) -> ::std::result::Result<(), M::Error> {
                #(map.serialize_entry(#wires, &self.#names)?;)*
                ::std::result::Result::Ok(())
            }

            fn field(&self, column: &str) -> crate::plain::Plain<'_> {
                match column {
                    #(::std::stringify!(#fields) => crate::plain::Keep::plain(&self.#fields),)*
                    _ => crate::plain::Plain::Null,
                }
            }
        }
    })
}

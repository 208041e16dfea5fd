//! `#[derive(Names)]`: the names under which an enumeration's variants are stored and shown.
//!
//! The names follow serde's rule, so that they are written once: that of `#[serde(rename_all = "…")]`, or for an
//! enumeration that serde does not know of `#[names(rename_all = "…")]`; snake case without either. The derive adds
//! `ALL: [Self; N]`, `NAMES: [&str; N]`, `const fn name(self) -> &'static str` and `fn named(name: &str) -> Option<Self>`.
//!
//! An enumeration whose variants have data has only `name`. A variant `Other(String)` is an exception: it stands for
//! the names that a later version adds. `name` then borrows, and `named` always succeeds.
//!
//! ```
//! use spelrum_names::Names;
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Names)]
//! #[names(rename_all = "kebab-case")]
//! enum Meet {
//!     League,
//!     KnockOut,
//! }
//!
//! assert_eq!(Meet::ALL.map(Meet::name), Meet::NAMES);
//! assert_eq!(Meet::NAMES, ["league", "knock-out"]);
//! assert_eq!(Meet::named("knock-out"), Some(Meet::KnockOut));
//! assert_eq!(Meet::named("KnockOut"), None);
//! ```

use heck::{ToKebabCase as _, ToShoutySnakeCase as _, ToSnakeCase as _};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Expr, Fields, LitStr, Result, Token, parse_macro_input};

/// The names of an enumeration's variants.
#[proc_macro_derive(Names, attributes(names, serde))]
pub fn names(item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    methods(&item).unwrap_or_else(Error::into_compile_error).into()
}

fn methods(item: &DeriveInput) -> Result<TokenStream> {
    let DeriveInput { vis, ident, data: Data::Enum(body), .. } = item else {
        return Err(Error::new_spanned(item, "only an enumeration has names"));
    };
    let rule = rule(item)?;
    let (mut known, mut names, mut with_data, mut is_open) = (vec![], vec![], vec![], false);
    for variant in &body.variants {
        let (variant, has_data) = (&variant.ident, !matches!(variant.fields, Fields::Unit));
        if has_data && variant == "Other" {
            is_open = true;
            continue;
        }
        let name = renamed(variant, &rule)?;
        if has_data {
            with_data.push(quote!(Self::#variant { .. } => #name,));
        } else {
            known.push(variant);
            names.push(name);
        }
    }
    let count = known.len();
    let all = with_data.is_empty().then(|| {
        quote! {
            /// All that have a name of their own, in order.
            #vis const ALL: [Self; #count] = [#(Self::#known),*];
            /// The names of all, in order.
            #vis const NAMES: [&'static str; #count] = [#(#names),*];
        }
    });
    let named = (with_data.is_empty() && !is_open).then(|| {
        quote! {
            /// The one with this name.
            #[must_use]
            #vis fn named(name: &str) -> Option<Self> {
                Some(match name { #(#names => Self::#known,)* _ => return None })
            }
        }
    });
    let name = match is_open {
        false => quote! {
            /// Its name.
            #[must_use]
            #vis const fn name(self) -> &'static str {
                match self { #(Self::#known => #names,)* #(#with_data)* }
            }
        },
        true => quote! {
            /// Its name.
            #[must_use]
            #vis fn name(&self) -> &str {
                match self { #(Self::#known => #names,)* Self::Other(name) => name }
            }

            /// The one with this name.
            #[must_use]
            #vis fn named(name: &str) -> Self {
                match name { #(#names => Self::#known,)* _ => Self::Other(name.to_owned()) }
            }
        },
    };
    Ok(quote! {
        #[automatically_derived]
        #[allow(dead_code, reason = "not every enumeration needs all")]
        impl #ident { #all #name #named }
    })
}

/// The enumeration's rule for names, in serde's words.
fn rule(item: &DeriveInput) -> Result<String> {
    let mut rule = "snake_case".to_owned();
    for attribute in &item.attrs {
        if attribute.path().is_ident("serde") || attribute.path().is_ident("names") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename_all") {
                    rule = meta.value()?.parse::<LitStr>()?.value();
                } else if meta.input.peek(Token![=]) {
                    meta.value()?.parse::<Expr>()?;
                }
                Ok(())
            })?;
        }
    }
    Ok(rule)
}

fn renamed(variant: &syn::Ident, rule: &str) -> Result<String> {
    let name = variant.to_string();
    match rule {
        "snake_case" => Ok(name.to_snake_case()),
        "kebab-case" => Ok(name.to_kebab_case()),
        "SCREAMING_SNAKE_CASE" => Ok(name.to_shouty_snake_case()),
        "PascalCase" => Ok(name),
        "lowercase" => Ok(name.to_lowercase()),
        "UPPERCASE" => Ok(name.to_uppercase()),
        _ => Err(Error::new_spanned(variant, format!("names have no rule {rule:?}"))),
    }
}

//! Colours by name in style sheets.

/// The rules with the palette's colours in the place of their names: what makes PDF of SVG often knows no
/// variables.
pub(crate) fn with_colors(rules: &str, palette: &str) -> String {
    let declarations = palette.split([';', '{', '}']).map(str::trim);
    let colors = declarations.filter_map(|it| it.strip_prefix("--")?.split_once(':'));
    colors.fold(rules.to_owned(), |rules, (name, color)| {
        rules.replace(&format!("var(--{name})"), color.trim())
    })
}

//! LaTeX, to be included in a thesis with `\input`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::escape::{breakable, label, latex as escaped, latex_number};
use super::layout::{Layout, TEXT_WIDTH_PT};
use super::{Document, LatexStyle, Part, TitledTable};

pub(super) fn write(document: &Document, style: LatexStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "% {}: {}", escaped(&document.title), escaped(&document.about))?;
    let rotating = if style.is_landscape { ", rotating" } else { "" };
    writeln!(out, "% In the preamble: \\usepackage{{array, booktabs, threeparttable{rotating}}}")?;
    if !style.is_landscape {
        writeln!(out, "% Tables fit a text width of {TEXT_WIDTH_PT} pt, that of article on A4")?;
    }
    // Tables with the same name at several points of a grid are numbered, so that labels differ.
    let mut tables_named: BTreeMap<&str, u32> = BTreeMap::new();
    for part in &document.parts {
        writeln!(out)?;
        match part {
            Part::Words(words) => writeln!(out, "{}", escaped(words))?,
            Part::Heading(heading) => writeln!(out, "\\subsection*{{{}}}", escaped(heading))?,
            Part::Table(table) => {
                let number = tables_named.entry(table.name).or_default();
                *number += 1;
                let mut name = format!("tab:{}-{}", label(&document.title), table.name);
                if *number > 1 {
                    name.push_str(&format!("-{number}"));
                }
                write_table(&document.title, &name, table, style, out)?;
            }
        }
    }
    Ok(())
}

fn write_table(
    subject: &str,
    label: &str,
    table: &TitledTable,
    style: LatexStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = Layout::new(table, style);
    let (float, place) =
        if style.is_landscape { ("sidewaystable", "") } else { ("table", "[htbp]") };
    let parts = layout.parts();
    for (number, part) in parts.iter().enumerate() {
        writeln!(out, "\\begin{{{float}}}{place}\n\\centering")?;
        if number > 0 {
            // On a page of its own where the part before leaves no room.
            writeln!(out, "Table \\ref{{{label}}}, continued\\par\\smallskip")?;
        }
        writeln!(out, "\\begin{{threeparttable}}")?;
        if number == 0 {
            writeln!(out, "\\caption{{{} ({})}}", escaped(&table.title), escaped(subject))?;
            writeln!(out, "\\label{{{label}}}")?;
        }
        writeln!(out, "{}", layout.setup())?;
        write_part(table, &layout, part, out)?;
        if !table.notes.is_empty() && number + 1 == parts.len() {
            writeln!(out, "\\begin{{tablenotes}}[flushleft]\n\\footnotesize")?;
            for note in &table.notes {
                writeln!(out, "\\item {}", escaped(note))?;
            }
            writeln!(out, "\\end{{tablenotes}}")?;
        }
        writeln!(out, "\\end{{threeparttable}}\n\\end{{{float}}}")?;
    }
    Ok(())
}

/// Writes some columns of a table.
fn write_part(
    table: &TitledTable,
    layout: &Layout,
    part: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "\\begin{{tabular}}{{{}}}\n\\toprule", layout.columns(table, part))?;
    let text = |column: usize, text: &str| match layout.is_broken(column) {
        true => breakable(text),
        false => escaped(text),
    };
    write_row(part.iter().map(|&column| text(column, table.columns[column].heading())), out)?;
    writeln!(out, "\\midrule")?;
    for row in &table.rows {
        let cells = part.iter().map(|&column| {
            let cell = row.get(column).map_or("", String::as_str);
            match table.columns[column].is_of_numbers() {
                true => latex_number(cell),
                false => text(column, cell),
            }
        });
        write_row(cells, out)?;
    }
    writeln!(out, "\\bottomrule\n\\end{{tabular}}")
}

fn write_row(cells: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} \\\\", cells.collect::<Vec<_>>().join(" & "))
}

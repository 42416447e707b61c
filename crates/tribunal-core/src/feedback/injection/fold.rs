//! Letters that look like others, brought back to the ones they look like. Only for searching; nothing is ever shown this way.

use crate::prompt::hides;

/// Without the characters that nobody sees.
pub fn unhidden(text: &str) -> String {
    text.chars().filter(|c| !hides(*c)).collect()
}

/// In plain Latin letters, where a letter of another alphabet looks like one.
pub fn folded(text: &str) -> String {
    text.chars().map(look_alike).collect()
}

fn look_alike(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'с' | 'ϲ' => 'c',
        'С' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' | 'ε' => 'e',
        'Е' | 'Ε' => 'E',
        'ɡ' | 'ց' => 'g',
        'һ' => 'h',
        'Н' | 'Η' => 'H',
        'і' | 'ι' | 'ı' | 'ɩ' => 'i',
        'І' | 'Ι' => 'I',
        'ј' => 'j',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'ո' => 'n',
        'Ν' => 'N',
        'о' | 'ο' | 'օ' => 'o',
        'О' | 'Ο' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' => 'P',
        'ѕ' => 's',
        'Ѕ' => 'S',
        'т' | 'τ' => 't',
        'Т' | 'Τ' => 'T',
        'υ' | 'ս' => 'u',
        'ν' => 'v',
        'ѡ' | 'ԝ' => 'w',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        // Full width, and the alphabets of mathematics.
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{1d400}'..='\u{1d6a3}' => {
            let letter = (u32::from(c) - 0x1d400) % 52;
            char::from_u32(if letter < 26 { 0x41 + letter } else { 0x61 + letter - 26 }).unwrap_or(c)
        }
        _ => c,
    }
}

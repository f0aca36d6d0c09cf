// The catalogues: a file for each language, which is read when the language is first asked for. The
// executable contains these files.

import { readFileSync } from 'node:fs'
import type { Language } from '../domain/language.ts'
import ar from './ar.json' with { type: 'file' }
import ca from './ca.json' with { type: 'file' }
import cs from './cs.json' with { type: 'file' }
import cy from './cy.json' with { type: 'file' }
import da from './da.json' with { type: 'file' }
import de from './de.json' with { type: 'file' }
import el from './el.json' with { type: 'file' }
import en from './en.json' with { type: 'file' }
import es from './es.json' with { type: 'file' }
import eu from './eu.json' with { type: 'file' }
import fa from './fa.json' with { type: 'file' }
import fi from './fi.json' with { type: 'file' }
import fr from './fr.json' with { type: 'file' }
import ga from './ga.json' with { type: 'file' }
import he from './he.json' with { type: 'file' }
import hi from './hi.json' with { type: 'file' }
import hu from './hu.json' with { type: 'file' }
import id from './id.json' with { type: 'file' }
import is_ from './is.json' with { type: 'file' }
import it from './it.json' with { type: 'file' }
import ja from './ja.json' with { type: 'file' }
import ko from './ko.json' with { type: 'file' }
import lv from './lv.json' with { type: 'file' }
import nb from './nb.json' with { type: 'file' }
import nl from './nl.json' with { type: 'file' }
import pl from './pl.json' with { type: 'file' }
import ptBR from './pt-BR.json' with { type: 'file' }
import ptPT from './pt-PT.json' with { type: 'file' }
import ro from './ro.json' with { type: 'file' }
import ru from './ru.json' with { type: 'file' }
import sk from './sk.json' with { type: 'file' }
import sr from './sr.json' with { type: 'file' }
import sv from './sv.json' with { type: 'file' }
import th from './th.json' with { type: 'file' }
import tr from './tr.json' with { type: 'file' }
import uk from './uk.json' with { type: 'file' }
import ur from './ur.json' with { type: 'file' }
import vi from './vi.json' with { type: 'file' }
import zhHans from './zh-Hans.json' with { type: 'file' }
import zhHant from './zh-Hant.json' with { type: 'file' }

/** A text, or one text for each plural form of its parameter `n`. `{name}` stands for a parameter. */
export type Text = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>)

export type WordKey = keyof typeof en
export type Catalogue = Record<WordKey, Text>

/** The path of each file. TypeScript believes it to be the content of the file. */
const PATHS: Record<Language, unknown> = {
  ...{ ar, ca, cs, cy, da, de, el, en, es, eu, fa, fi, fr, ga },
  ...{ he, hi, hu, id, is: is_, it, ja, ko, lv, nb, nl, pl, 'pt-BR': ptBR },
  ...{ 'pt-PT': ptPT, ro, ru, sk, sr, sv, th, tr, uk, ur, vi, 'zh-Hans': zhHans, 'zh-Hant': zhHant },
}

/** Returns the texts of a language. A test compares each catalogue with en.json. */
export function readCatalogue(language: Language): Catalogue {
  return JSON.parse(readFileSync(String(PATHS[language]), 'utf8'))
}

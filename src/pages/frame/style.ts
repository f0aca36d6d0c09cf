// The style sheet of the pages: small files by part, joined into one asset. Later files may override earlier ones.

import { colorsOf, type Shades } from '../../domain/brand-color.ts'
import account from './styles/account.css' with { type: 'text' }
import admin from './styles/admin.css' with { type: 'text' }
import base from './styles/base.css' with { type: 'text' }
import buttons from './styles/buttons.css' with { type: 'text' }
import create from './styles/create.css' with { type: 'text' }
import created from './styles/created.css' with { type: 'text' }
import docs from './styles/docs.css' with { type: 'text' }
import forms from './styles/forms.css' with { type: 'text' }
import header from './styles/header.css' with { type: 'text' }
import lists from './styles/lists.css' with { type: 'text' }
import parts from './styles/parts.css' with { type: 'text' }
import print from './styles/print.css' with { type: 'text' }
import push from './styles/push.css' with { type: 'text' }
import receive from './styles/receive.css' with { type: 'text' }
import revealed from './styles/revealed.css' with { type: 'text' }
import tables from './styles/tables.css' with { type: 'text' }
import tokens from './styles/tokens.css' with { type: 'text' }

const FOUNDATION = [tokens, base, header, forms, buttons, parts, tables]
const PAGES = [create, created, receive, revealed, lists, push, account, admin, docs]

export const style = [...FOUNDATION, ...PAGES, print].join('\n')

/** The rules that put the operator's colour, `#rrggbb` and readable, in place of the accent of the style sheet. */
export function colorStyle(color: string): string {
  const { light, dark } = colorsOf(color)
  return `:root{${tokensOf(light)}}\n@media (prefers-color-scheme: dark){:root{${tokensOf(dark)}}}\n`
}

function tokensOf({ accent, strong, ground, onAccent }: Shades): string {
  return `--accent:${accent};--accent-strong:${strong};--accent-ground:${ground};--on-accent:${onAccent}`
}

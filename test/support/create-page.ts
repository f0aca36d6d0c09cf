// Fills in the form that creates a push as a person would: opens the folded sections first.

import type { Page } from 'playwright-core'
import { waitUntil } from './waiting.ts'

export const SUBMIT = 'form.create > .actions button[type=submit]'

/** Opens a folded part, unless it is open. */
export async function unfold(page: Page, part: 'expiry' | 'options' | 'generator'): Promise<void> {
  const details = page.locator(`details.${part}`)
  if ((await details.getAttribute('open')) === null) await details.locator('> summary').click()
}

/** Has the generator make words, and waits for them in the field. */
export async function generateWords(page: Page): Promise<void> {
  await unfold(page, 'generator')
  await page.selectOption('#generator-mode', 'words')
  await waitUntil(async () => /^[a-z]+(-[a-z]+){5}$/.test(await page.inputValue('#payload')))
}

/** The field with the content, by kind. */
const FIELDS: Record<string, string> = { text: '#payload', file: '#payload', url: '#link', qr: '#qr' }

export type Typed = {
  kind?: string
  payload?: string
  views?: number
  /** The lifetime: a number and its unit. */
  time?: [number, string]
  passphrase?: string
}

export async function fillCreateForm(page: Page, typed: Typed): Promise<void> {
  const { kind = 'text', payload, views, time, passphrase } = typed
  if (kind !== 'text') await page.check(`#kind-${kind}`)
  if (payload !== undefined) await page.fill(FIELDS[kind] ?? '', payload)
  if (views !== undefined) {
    await unfold(page, 'expiry')
    await page.check('#views-exact')
    await page.fill('#expire_after_views', String(views))
  }
  if (time !== undefined) {
    await unfold(page, 'expiry')
    await page.check('#expire-exact')
    await page.fill('#expire_after', String(time[0]))
    await page.selectOption('#expire_unit', time[1])
  }
  if (passphrase !== undefined) await page.fill('#passphrase', passphrase)
}

// The name, contact and notice in effect: those that were set at the start, else those that an administrator
// has set on the pages.

import {
  APPEARANCE_FIELDS,
  type Appearance,
  type AppearanceField,
  MOST_OF_APPEARANCE,
  problemOfText,
} from '../domain/appearance.ts'
import { invalidFields } from '../domain/errors.ts'
import type { Job, JobReport } from '../domain/job.ts'
import type { Problems } from '../domain/problems.ts'
import type { Store } from '../store/contract.ts'

export const APPEARANCE_FLAGS = { name: 'brand-name', contact: 'contact', notice: 'notice' } as const

type AppearanceOptions = {
  store: Pick<Store, 'appearance'>
  /** The values given at the start, defaults included. */
  started: Appearance & { name: string }
  /** Where the settings come from: `default`, a flag or a variable. */
  settings: readonly { flag: string; from: string }[]
}

export type Appearances = Awaited<ReturnType<typeof openAppearance>>

const NONE: Appearance = { name: null, contact: null, notice: null }

export async function openAppearance({ store, started, settings }: AppearanceOptions) {
  /** The values that administrators have set, even where they have no effect. */
  let kept: Appearance = NONE
  let inEffect: Appearance & { name: string } = started

  /** The flag or variable that fixes a text; null for one that administrators may change. */
  function fixedBy(field: AppearanceField): string | null {
    const from = settings.find(({ flag }) => flag === APPEARANCE_FLAGS[field])?.from ?? 'default'
    return from === 'default' ? null : from
  }

  function use(found: Appearance): void {
    const textOf = (field: AppearanceField) =>
      (fixedBy(field) === null ? found[field] : null) ?? started[field]
    kept = found
    inEffect = { name: textOf('name') ?? started.name, contact: textOf('contact'), notice: textOf('notice') }
  }

  async function read(): Promise<void> {
    use((await store.appearance.find()) ?? NONE)
  }

  /**
   * Stores texts. An empty text restores the default; a missing one stays unchanged. Throws `invalid`, and
   * changes nothing, for a text that is fixed by a flag or that the flag would refuse.
   */
  async function change(given: Partial<Record<AppearanceField, string>>): Promise<void> {
    await read()
    const next = { ...kept }
    const problems: Problems = {}
    for (const field of APPEARANCE_FIELDS) {
      const text = given[field]?.trim()
      if (text === undefined) continue
      const problem = text === '' ? null : problemOfText(text, MOST_OF_APPEARANCE[field])
      if (fixedBy(field) !== null) problems[field] = [{ code: 'cannot_change' }]
      else if (problem !== null) problems[field] = [problem]
      next[field] = text === '' ? null : text
    }
    if (Object.keys(problems).length > 0) throw invalidFields(problems)
    await store.appearance.keep(next)
    use(next)
  }

  await read()
  return { started, fixedBy, change, read, inEffect: () => inEffect, kept: () => kept }
}

type JobOptions = { read: Appearances['read']; every: number }

/** Rereads every `every` milliseconds the texts that administrators may have changed on other nodes. */
export function createAppearanceJob({ read, every }: JobOptions): Job {
  let timer: Timer | undefined

  function start({ did, failed }: JobReport): void {
    timer = setInterval(() => read().then(did, failed), every)
  }

  return { name: 'appearance', start, stop: () => clearInterval(timer) }
}

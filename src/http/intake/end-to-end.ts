// Reads whether a push or an answer is end-to-end. Refuses content that is not age's, and what the settings
// forbid.

import { isArmouredAge } from '../../domain/age-armour.ts'
import type { EndToEndRule, NewPush, PushLimits } from '../../domain/new-push.ts'
import type { PushKind } from '../../domain/push.ts'
import { type BodyMember, boolean, createFields, type Fields, refined, text } from './members.ts'

type EndToEndValues = { end_to_end: boolean; key_check: string; recipients_only: boolean }

/** The members of a new push; the reference shows them. */
export function createEndToEndTable({ endToEnd }: Pick<PushLimits, 'endToEnd'>) {
  return {
    end_to_end: isEndToEnd(endToEnd),
    key_check: refined(
      text({
        pattern: '^[0-9a-fA-F]{8}$',
        description:
          'Only for an end-to-end push whose key stands in its link: the first 4 bytes of SHA-256 of the recipient (`age1…`).',
      }),
      (given, blame) =>
        /^[0-9a-f]{8}$/i.test(given) ? given.toLowerCase() : blame({ code: 'not_key_check' }),
    ),
    recipients_only: boolean({
      description: 'Says that no key belongs to the link of an end-to-end push, so that mail may carry it.',
    }),
  }
}

const FORMAT =
  'Whether its sender has encrypted it with age, so that this server cannot read it: `payload` is one ASCII-armoured age file, or empty with files, and each file is an age file, which gets its number as its name. For text and files.'

const RULES: Partial<Record<EndToEndRule, { text: string; allowed: boolean }>> = {
  off: { text: ' Not offered by this server.', allowed: false },
  required: { text: ' Required by this server.', allowed: true },
}

/** Refuses what the rule of the instance forbids. */
function isEndToEnd(rule: EndToEndRule): BodyMember<boolean> {
  const { text = '', allowed } = RULES[rule] ?? {}
  const only = allowed === undefined ? {} : { enum: [allowed] }
  return refined(boolean({ ...only, description: FORMAT + text }), (given, blame) => {
    if (given && rule === 'off') return blame({ code: 'end_to_end_off' })
    return !given && rule === 'required' ? blame({ code: 'end_to_end_required' }) : given
  })
}

/**
 * Returns whether the next file belongs to an end-to-end push, according to a member that was sent before it;
 * null if that member is missing.
 */
export function createEndToEndNote(limits: Pick<PushLimits, 'endToEnd'>) {
  const table = createEndToEndTable(limits)
  return (name: string, value: unknown): boolean | null =>
    name.endsWith('[end_to_end]') ? createFields(table, { end_to_end: value }).read('end_to_end') : null
}

/** Reads the members. Notes a problem if an end-to-end push is not encrypted with age. */
export function readEndToEnd(
  fields: Fields<EndToEndValues & { payload: string; kind: string }>,
  { kind, payload, limits }: { kind: PushKind; payload: string; limits: Pick<PushLimits, 'endToEnd'> },
): Pick<NewPush, 'encryptedBy' | 'keyCheck'> {
  const isSealed = readIsSealed(fields, limits)
  const keyCheck = fields.read('key_check')
  if (keyCheck !== null && !isSealed) fields.blame('key_check', { code: 'only_end_to_end' })
  if (fields.read('recipients_only') === true && !isSealed)
    fields.blame('recipients_only', { code: 'only_end_to_end' })
  if (!isSealed) return { encryptedBy: null, keyCheck: null }
  if (kind !== 'text' && kind !== 'file') fields.blame('kind', { code: 'unknown_kind', kinds: 'text, file' })
  blameUnsealed(fields, payload)
  return { encryptedBy: 'sender', keyCheck }
}

/** Notes the lack of a required member. */
export function readIsSealed(
  fields: Fields<Pick<EndToEndValues, 'end_to_end'>>,
  { endToEnd }: Pick<PushLimits, 'endToEnd'>,
): boolean {
  const said = fields.read('end_to_end')
  if (said === null && endToEnd === 'required' && fields.problems.end_to_end === undefined)
    fields.blame('end_to_end', { code: 'end_to_end_required' })
  return said === true
}

export function blameUnsealed(fields: Fields<{ payload: string }>, payload: string): void {
  const isBlank = payload.trim() === ''
  if (!isBlank && fields.problems.payload === undefined && !isArmouredAge(payload))
    fields.blame('payload', { code: 'not_encrypted' })
}

// The tools of `oncebox mcp` as the assistant sees them, and the validation of its arguments.

import { MAX_DAYS, MAX_VIEWS } from '../../domain/new-push.ts'
import { MAX_ANSWERS } from '../../domain/requests.ts'
import { CommandFailure } from '../failures.ts'

const text = (maxLength: number, description: string) => ({ type: 'string', maxLength, description })
const whole = (minimum: number, maximum: number, description: string) => ({
  ...{ type: 'integer', minimum, maximum, description },
})
const days = whole(1, MAX_DAYS, 'Expires after this many days')
const limits = {
  name: text(255, 'A label that only the person sees'),
  days,
  views: whole(1, MAX_VIEWS, 'Expires after this many views'),
  to: text(
    100,
    'Name of a configured recipient: the link is encrypted for their age key and returned as sealed_link',
  ),
}
const handle = text(40, 'A handle that a tool of this server returned')

type Property = { type: string; maxLength?: number; minimum?: number; maximum?: number }

export type Given = Partial<Record<string, string | number>>

type Schema = {
  type: 'object'
  properties: Record<string, Property>
  required: string[]
  additionalProperties: false
}

function tool(description: string, properties: Record<string, Property>, required: string[] = []) {
  const inputSchema: Schema = { type: 'object', properties, required, additionalProperties: false }
  return { description, inputSchema }
}

export const DESCRIPTIONS = {
  share_generated: tool(
    'Makes a random password that nobody sees and shares it by a link. The link goes to the person, or is encrypted for a recipient; you get a handle.',
    { length: whole(12, 128, 'Letters and digits (default: 24)'), ...limits },
  ),
  share_file: tool(
    'Shares a file below a folder that the person has listed. The link goes to the person, or is encrypted for a recipient; you get a handle.',
    { path: text(4096, 'Absolute path of the file'), ...limits },
    ['path'],
  ),
  ask_for_secret: tool(
    'Makes a link on which somebody enters a secret, to be shown to them. It cannot read what they enter; use_secret uses it.',
    {
      message: text(10_000, 'What they read: tell what you need'),
      name: limits.name,
      days,
      answers: whole(1, MAX_ANSWERS, 'How many answers it takes (default: 1)'),
    },
  ),
  status: tool('Tells whether what a handle stands for can still be opened or answered.', { handle }, [
    'handle',
  ]),
  expire: tool('Expires a push, or closes a request, at once.', { handle }, ['handle']),
  use_secret: tool(
    'Runs a recipe of the person with a secret, which you do not see. Uses up a view. Give a handle, or a link where the recipe allows it.',
    {
      recipe: text(100, 'Name of the recipe'),
      handle,
      link: text(2000, 'A secret link of the configured server'),
    },
    ['recipe'],
  ),
}

/** Throws CommandFailure for arguments that the schema does not allow. */
export function checkArguments(given: unknown, schema: Schema): Given {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CommandFailure('The arguments must be an object.')
  const missing = schema.required.find((name) => !Object.hasOwn(given, name))
  if (missing !== undefined) throw new CommandFailure(`${missing} is missing.`)
  for (const [name, value] of Object.entries(given)) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (property === undefined) throw new CommandFailure('There is an unknown argument.')
    const { type, maxLength = 0, minimum = 0, maximum = 0 } = property
    const isText = type === 'string' && typeof value === 'string' && value !== '' && value.length <= maxLength
    const isNumber = type === 'integer' && Number.isSafeInteger(value) && value >= minimum && value <= maximum
    if (isText || isNumber) continue
    const range = type === 'string' ? `a text of up to ${maxLength} characters` : `${minimum} to ${maximum}`
    throw new CommandFailure(`${name} must be ${range}.`)
  }
  return { ...given }
}

// Converts the fields of the create form into those of the API. Handles what only the form accepts: addresses
// without a scheme, Wi-Fi networks, and times in minutes and hours.

import { MAX_QR_CHARACTERS } from '../../../domain/new-push.ts'
import type { Problems } from '../../../domain/problems.ts'
import { createFields, integer, type Wire } from '../../../http/intake/members.ts'
import type { RevisedPush } from '../../../http/intake/receiving.ts'
import { hasMoreCharacters } from '../../../text/text-length.ts'
import { WIFI_TYPES, wifiText } from '../../frame/wifi-text.ts'
import { EXACT, MILLISECONDS, unitOf } from './expiry-chips.ts'
import { completeWebAddress } from './web-address.ts'

const LENGTH = { expire_after: integer({ minimum: 1, maximum: 1_000_000 }) }
const BLANK = [{ code: 'blank' }] as const
const TOO_LONG = { code: 'too_long_characters', limit: MAX_QR_CHARACTERS } as const

export function readCreateForm(sent: Wire): RevisedPush {
  const form = withPlainLineEnds(sent)
  const content = readContent(form)
  const limits = readLimits(form)
  return {
    ...limits,
    wire: { ...limits.wire, ...content.wire },
    showsSender: form.shows_sender === 'true',
    namesRecipient: true,
    problems: { ...content.problems, ...limits.problems },
  }
}

/** Reads a lifetime and a number of views from chips or exact fields. */
export function readLimits(form: Wire): RevisedPush {
  const lifetime = readLifetime(form)
  const views = readViews(form)
  const { expire_after_days: _days, expire_after_duration: _index, ...rest } = form
  return {
    wire: { ...rest, ...lifetime.wire, ...views.wire },
    ...(lifetime.duration === undefined ? {} : { duration: lifetime.duration }),
    problems: { ...lifetime.problems, ...views.problems },
  }
}

/** Reads the payload from the field of its kind. Programs and older pages send `payload` instead. */
function readContent(form: Wire): RevisedPush {
  const { kind, payload } = form
  if (kind === 'url') return { wire: { payload: complete(form.link ?? payload) } }
  if (kind === 'wifi') return readWifi(form)
  if (kind !== 'qr') return { wire: {} }
  return { wire: { payload: form.qr ?? payload } }
}

function complete(link: unknown): unknown {
  return typeof link === 'string' ? completeWebAddress(link) : link
}

function readWifi(form: Wire): RevisedPush {
  const network = textOf(form.wifi_network)
  const password = textOf(form.wifi_password)
  const type = WIFI_TYPES.find((known) => known === form.wifi_type) ?? 'WPA'
  const problems: Problems = {}
  if (network === '') problems.wifi_network = [...BLANK]
  if (type !== 'nopass' && password === '') problems.wifi_password = [...BLANK]
  for (const [name, text] of Object.entries({ wifi_network: network, wifi_password: password }))
    if (hasMoreCharacters(text, MAX_QR_CHARACTERS)) problems[name] = [TOO_LONG]
  const isHidden = form.wifi_hidden === 'true'
  const isGood = Object.keys(problems).length === 0
  const payload = isGood ? wifiText({ network, password, type, isHidden }) : type
  return { wire: { kind: 'qr', payload }, problems }
}

/** Keeps whole days as days. Converts anything else to a duration. */
function readLifetime(form: Wire): RevisedPush {
  const { expire_after: given, expire_after_duration: index } = form
  if (index !== undefined && index !== EXACT) return { wire: { expire_after_duration: index } }
  if (index === EXACT && textOf(given).trim() === '')
    return { wire: {}, problems: { expire_after: [...BLANK] } }
  const unit = unitOf(form.expire_unit)
  if (unit === 'days') return { wire: { expire_after_days: given } }
  const fields = createFields(LENGTH, { expire_after: given })
  const number = fields.read('expire_after')
  const { problems } = fields
  return number === null ? { wire: {}, problems } : { wire: {}, duration: number * MILLISECONDS[unit] }
}

function readViews({ views, expire_after_views: exact }: Wire): RevisedPush {
  if (views !== undefined && views !== EXACT) return { wire: { expire_after_views: views } }
  const isMissing = views === EXACT && textOf(exact).trim() === ''
  return isMissing ? { wire: {}, problems: { expire_after_views: [...BLANK] } } : { wire: {} }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Converts CRLF, which browsers send for every line break, to LF. */
function withPlainLineEnds(wire: Wire): Wire {
  const plain = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\r\n', '\n') : value)
  return Object.fromEntries(Object.entries(wire).map(([name, value]) => [name, plain(value)]))
}

// Scripts, styles and the icon: embedded in the binary, and served compressed under names with a hash of their content.

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { DomainError } from '../../../domain/errors.ts'
import type { Asked } from '../../door/router.ts'
import { FILES } from '../../urls.ts'
import common from './browser/common.js' with { type: 'text' }
import handover from './browser/handover.js' with { type: 'text' }
import lists from './browser/lists.js' with { type: 'text' }
import receive from './browser/receive.js' with { type: 'text' }
import { bundleForBrowser } from './browser-bundles.ts' with { type: 'macro' }
import { colorStyle } from './color-style.ts'
import favicon from './favicon.ico' with { type: 'file' }
import icon from './icon.svg' with { type: 'text' }
import icon192 from './icon-192.png' with { type: 'file' }
import icon512 from './icon-512.png' with { type: 'file' }
import { LOGO_POLICY, type Logo } from './logo.ts'
import { style } from './style.ts'

/** The scripts of the pages. */
export type ScriptName = 'common' | 'create' | 'handover' | 'lists' | 'receive'

type Asset = { name: string; type: string; policy?: string; read: () => Promise<Bytes> }
type Bytes = Uint8Array<ArrayBuffer>

const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const SVG = 'image/svg+xml'
const PNG = 'image/png'

const compress = promisify(gzip)

export type Assets = ReturnType<typeof createAssets>

export type AssetsOptions = {
  /** The one in --base-url. */
  basePath: string
  /** The operator's own colour, as `#rrggbb`, and logo. */
  brand?: { color: string | null; logo: Logo | null }
}

export function createAssets({ basePath, brand }: AssetsOptions) {
  const assets = {
    style: ofText('pages.css', CSS, brand?.color ? `${style}\n${colorStyle(brand.color)}` : style),
    icon: ofText('icon.svg', SVG, icon),
    icon192: ofFile('icon-192.png', PNG, icon192),
    icon512: ofFile('icon-512.png', PNG, icon512),
    common: ofText('common.js', SCRIPT, common),
    create: ofText('create.js', SCRIPT, bundleForBrowser('create.js')),
    qrPreview: ofText('qr-preview.js', SCRIPT, bundleForBrowser('qr-preview.js')),
    lists: ofText('lists.js', SCRIPT, lists),
    handover: ofText('handover.js', SCRIPT, handover),
    receive: ofText('receive.js', SCRIPT, receive),
    wordlist: ofText('words.js', SCRIPT, `export const wordlist = ${JSON.stringify(wordlist)}\n`),
  }
  const logo = brand?.logo ? ofLogo(brand.logo) : null
  const served: Asset[] = [...Object.values(assets), ...(logo === null ? [] : [logo])]
  const byName = new Map(served.map((asset) => [asset.name, asset]))
  const compressed = new Map<string, Promise<Bytes>>()

  /** For clients that ask for /favicon.ico, which may be an image of any type. Pages link to the SVG or the logo instead. */
  async function answerFavicon(): Promise<Response> {
    const own = { type: 'image/x-icon', policy: undefined, read: () => Bun.file(favicon).bytes() }
    const { type, policy, read } = logo ?? own
    return new Response(await read(), {
      headers: {
        'content-type': type,
        ...policyOf(policy),
        'cache-control': 'public, max-age=86400',
        'x-content-type-options': 'nosniff',
      },
    })
  }

  async function answer({ exchange, params }: Asked): Promise<Response> {
    const asset = byName.get(params.name ?? '')
    if (asset === undefined) throw new DomainError('not_found', 'not-found')
    const isCompressed = /\bgzip\b/.test(exchange.request.headers.get('accept-encoding') ?? '')
    return new Response(isCompressed ? await compressOnce(asset) : await asset.read(), {
      headers: {
        'content-type': asset.type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        ...policyOf(asset.policy),
        ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
      },
    })
  }

  /** Assets hold no secrets, so compressing them leaks nothing. Pages are never compressed. */
  function compressOnce({ name, read }: Asset): Promise<Bytes> {
    const known =
      compressed.get(name) ?? read().then(async (bytes) => Buffer.from(await compress(bytes, { level: 9 })))
    compressed.set(name, known)
    return known
  }

  /** A path without a host, so that a page loads its assets from its own origin. */
  const hrefTo = ({ name }: Asset) => `${basePath}${FILES.asset.href({ name })}`

  return {
    answer,
    answerFavicon,
    hrefOf: (name: keyof typeof assets): string => hrefTo(assets[name]),
    /** Null without --brand-logo. */
    logoHref: logo === null ? null : hrefTo(logo),
  }
}

function policyOf(policy: string | undefined): Record<string, string> {
  return policy === undefined ? {} : { 'content-security-policy': policy }
}

function ofText(name: string, type: string, text: string): Asset {
  return ofBytes(name, type, Buffer.from(text))
}

/** Browsers keep it for a year, so another picture needs another name. */
function ofFile(name: string, type: string, path: string): Asset {
  return { name, type, read: () => Bun.file(path).bytes() }
}

function ofLogo({ bytes, type, extension }: Logo): Asset {
  return { ...ofBytes(`logo.${extension}`, type, bytes), policy: LOGO_POLICY }
}

function ofBytes(name: string, type: string, bytes: Bytes): Asset {
  const [stem, extension] = name.split('.')
  return { name: `${stem}-${Bun.hash(bytes).toString(36)}.${extension}`, type, read: async () => bytes }
}

// The frame of every page, and the response that contains the page.

import { type AnswerHeaders, answerPage } from '../../http/answers.ts'
import { API, FILES } from '../../http/urls.ts'
import {
  acceptedLanguages,
  LANGUAGE_NAMES,
  LANGUAGES,
  type Language,
  tagOf,
  type Words,
} from '../../words/words.ts'
import type { Assets, ScriptName } from './assets.ts'
import { type Guest, LANGUAGE_PARAMETER, otherFields } from './guest.ts'
import { Header, RecipientHeader } from './header.tsx'
import { type Children, flattened, type Html } from './html.ts'
import { drawingsFor } from './icons.tsx'

export type PageOptions = {
  guest: Guest
  title: string
  status?: number
  /** Runs after the common script; null for a page without any script. */
  script?: Exclude<ScriptName, 'common'> | null | undefined
  /** `branded` has navigation, for senders; `plain` has none, for recipients. */
  frame?: 'branded' | 'plain'
  /** `card-width`: a form for people who are signed out. `narrow`: one form. `wide`: lists and tables. */
  width?: 'card-width' | 'narrow' | 'medium' | 'wide'
  /** If false, there is no language switch, because switching would lose what the page shows. */
  languageSwitch?: boolean
  /** The link preview in chats. Everyone in the chat can read it. */
  description?: string
  headers?: AnswerHeaders
}

export type AnswerGuest = (content: Html, options: PageOptions) => Response

export function createAnswerGuest(assets: Assets): AnswerGuest {
  return (content, options) => {
    const { guest, status = 200, frame = 'branded', headers } = options
    const page = (
      <Page {...options} frame={frame} assets={assets}>
        {content}
      </Page>
    )
    const keptLanguage = frame === 'branded' ? guest.languageCookie : null
    const cookie = keptLanguage === null ? headers : { 'set-cookie': keptLanguage, ...headers }
    return answerPage(status, renderPage(page), cookie)
  }
}

export function renderPage({ text }: Html): string {
  return `<!doctype html>${text.slice(0, -END.length)}${drawingsFor(text)}${END}`
}

const END = '</body></html>'

type FrameProps = PageOptions & {
  frame: 'branded' | 'plain'
  assets: Assets
  children: Children
}

const METAS = (
  <>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="robots" content="noindex, nofollow" />
  </>
)

function Page(props: FrameProps) {
  const { guest, title, script, frame, status, description, assets, children } = props
  const { width = 'medium', languageSwitch = true } = props
  const { words, brand } = guest
  const scripts: ScriptName[] = script === null ? [] : script === undefined ? ['common'] : ['common', script]
  return (
    <html lang={words.tag} dir={words.direction}>
      <head>
        {METAS}
        <title>{`${status === 422 ? words.say('title_refused', { title }) : title} · ${brand.name}`}</title>
        {description !== undefined && (
          <>
            <meta property="og:title" content={title} />
            <meta property="og:description" content={description} />
          </>
        )}
        <link rel="icon" href={brand.logo ?? assets.hrefOf('icon')} />
        {frame === 'branded' && isSecureContext(guest) ? (
          <link rel="manifest" href={`${guest.basePath}${FILES.manifest.href()}`} />
        ) : null}
        {frame === 'branded' && (
          <link rel="apple-touch-icon" href={`${guest.basePath}${FILES.touchIcon.href()}`} />
        )}
        <link rel="stylesheet" href={assets.hrefOf('style')} />
        {scripts.map((name) => (
          <script type="module" src={assets.hrefOf(name)} />
        ))}
      </head>
      <body class={`${frame} ${width}`}>
        {frame === 'branded' ? <Header guest={guest} /> : <RecipientHeader guest={guest} />}
        <main id="main">{children}</main>
        <Footer guest={guest} languageSwitch={languageSwitch} isBranded={frame === 'branded'} />
      </body>
    </html>
  )
}

/** Whether browsers may install the page as an app: over https and on localhost only. */
function isSecureContext({ exchange: { baseUrl } }: Guest): boolean {
  return /^(https:|http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|\/|$))/i.test(baseUrl)
}

type FooterProps = { guest: Guest; languageSwitch: boolean; isBranded: boolean }

function Footer({ guest, languageSwitch, isBranded }: FooterProps) {
  const { words, basePath, path, exchange } = guest
  const accepted = acceptedLanguages(exchange.request.headers.get('accept-language'))
  return (
    <footer class="bottom">
      {isBranded ? <a href={`${basePath}${API.docs.href()}`}>{words.say('api_reference')}</a> : null}
      {languageSwitch ? (
        <form method="get" action={`${basePath}${path}`} class="language">
          {otherFields(guest).map(([name, value]) => (
            <input type="hidden" name={name} value={value} />
          ))}
          {languageMenu(words, accepted.slice(0, MAX_FIRST))}
        </form>
      ) : null}
    </footer>
  )
}

/** Languages of the browser that come first in the menu. */
const MAX_FIRST = 5
/** Menus in memory: one for each language and each order. */
const MAX_MENUS = 100
const menus = new Map<string, Html>()

function languageMenu(words: Words, first: readonly Language[]): Html {
  const key = [words.language, ...first].join()
  const known = menus.get(key)
  if (known !== undefined) return known
  const menu = flattened(
    <>
      <label for="language">{words.say('language')}</label>
      <select id="language" name={LANGUAGE_PARAMETER} data-submits>
        {[...new Set([...first, ...LANGUAGES])].map((language) => (
          <option value={language} lang={tagOf(language)} selected={language === words.language}>
            {LANGUAGE_NAMES[language]}
          </option>
        ))}
      </select>
      <button type="submit" class="quiet" data-without-script>
        {words.say('language_change')}
      </button>
    </>,
  )
  if (menus.size === MAX_MENUS) menus.clear()
  menus.set(key, menu)
  return menu
}

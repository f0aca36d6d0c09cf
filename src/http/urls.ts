// Every URL of this server on one page: its method, its path, who may use it, and how to link to it.

/**
 * Who may enter. The API knows people by an API token, the pages by a session.
 *
 * - open: anyone, whatever the settings.
 * - visitor: anyone; with --anonymous-access off, only people with an account.
 * - account: people who send a valid API token.
 * - member: people who are signed in.
 * - admin: administrators who are signed in.
 */
export type Guard = 'open' | 'visitor' | 'account' | 'member' | 'admin'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/** A URL as the router needs it. A GET also serves HEAD. */
export type Endpoint<M extends Method = Method, G extends Guard = Guard> = {
  method: M
  path: string
  guard: G
}

type Url<M extends Method, P extends string, G extends Guard> = Endpoint<M, G> & {
  /**
   * Returns the path with its parameter filled in, without base path and language: `Guest.href` adds those.
   */
  href(...parameters: ParametersOf<P>): string
}

/** Returns the key of a route: its method, and the pattern of its path. */
export const routeKey = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`

type ParametersOf<P extends string> = [NameIn<P>] extends [never] ? [] : [Record<NameIn<P>, string | number>]

type NameIn<P extends string> = P extends `${infer Part}/${infer Rest}`
  ? NameIn<Part> | NameIn<Rest>
  : P extends `:${infer Name}.json`
    ? Name
    : P extends `:${infer Name}`
      ? Name
      : never

function url<M extends Method, P extends string, G extends Guard>(method: M, path: P, guard: G): Url<M, P, G>
/** Supports paths with at most one parameter. */
function url(method: Method, path: string, guard: Guard) {
  const [before, name, after] = path.split(/:(\w+)/)
  const href = (parameters: Record<string, string | number> = {}) =>
    name === undefined ? path : `${before}${encodeURIComponent(parameters[name] ?? '')}${after}`
  return { method, path, guard, href }
}

const get = <P extends string, G extends Guard>(path: P, guard: G) => url('GET', path, guard)
const post = <P extends string, G extends Guard>(path: P, guard: G) => url('POST', path, guard)

/** Version 2 of the API, and the extensions of Oncebox. Each URL also answers with `.json` at its end. */
export const API = {
  version: get('/api/v2/version', 'open'),
  reference: get('/api/v2/openapi.json', 'open'),
  docs: get('/api/v2/docs', 'open'),

  create: post('/api/v2/pushes', 'visitor'),
  retrieve: get('/api/v2/pushes/:url_token', 'visitor'),
  expire: url('DELETE', '/api/v2/pushes/:url_token', 'visitor'),
  preview: get('/api/v2/pushes/:url_token/preview', 'visitor'),
  audit: get('/api/v2/pushes/:url_token/audit', 'account'),
  active: get('/api/v2/pushes/active', 'account'),
  expired: get('/api/v2/pushes/expired', 'account'),
  edit: url('PATCH', '/api/v2/pushes/:url_token', 'account'),
  /** Exists only on servers that send mail. */
  notify: post('/api/v2/pushes/:url_token/notify_emails', 'account'),

  createRequest: post('/api/oncebox/requests', 'account'),
  requests: get('/api/oncebox/requests', 'account'),
  request: get('/api/oncebox/requests/:url_token', 'account'),
  closeRequest: url('DELETE', '/api/oncebox/requests/:url_token', 'account'),
  answer: post('/api/oncebox/requests/:url_token/answers', 'visitor'),

  webhooks: get('/api/oncebox/webhooks', 'account'),
  addWebhook: post('/api/oncebox/webhooks', 'account'),
  removeWebhook: url('DELETE', '/api/oncebox/webhooks/:id', 'account'),
  testWebhook: post('/api/oncebox/webhooks/:id/test', 'account'),
  events: get('/api/oncebox/events', 'account'),
}

/** The previous version of the API: pushes of any kind, pushes of files, and pushes of URLs. */
export const PREVIOUS_FAMILIES = { p: familyOf('p'), f: familyOf('f'), r: familyOf('r') }

export type Family = keyof typeof PREVIOUS_FAMILIES

function familyOf<F extends 'p' | 'f' | 'r'>(family: F) {
  return {
    create: post(`/${family}.json`, family === 'f' ? 'account' : 'visitor'),
    retrieve: get(`/${family}/:url_token.json` as const, 'visitor'),
    expire: url('DELETE', `/${family}/:url_token.json`, 'visitor'),
    preview: get(`/${family}/:url_token/preview.json`, 'visitor'),
    audit: get(`/${family}/:url_token/audit.json`, 'account'),
    active: get(`/${family}/active.json`, 'account'),
    expired: get(`/${family}/expired.json`, 'account'),
  }
}

/**
 * The other paths of the previous version. Its lists have a language in front, because `/d/…` is a download.
 */
export const PREVIOUS_API = {
  version: get('/api/v1/version', 'open'),
  active: get('/:locale/d/active.json', 'account'),
  expired: get('/:locale/d/expired.json', 'account'),
}

/** Everything else: downloads, assets, health checks. */
export const FILES = {
  download: get('/d/:grant', 'open'),
  asset: get('/assets/:name', 'open'),
  favicon: get('/favicon.ico', 'open'),
  /** iOS requests this path, whatever icon the page names. */
  touchIcon: get('/apple-touch-icon.png', 'open'),
  manifest: get('/manifest.webmanifest', 'open'),
  robots: get('/robots.txt', 'open'),
  up: get('/up', 'open'),
  ready: get('/readyz', 'open'),
  /** The certificate of this server's authority, for devices that are to trust it. */
  authority: get('/trust/:name', 'open'),
}

/** Served on its own listener, --metrics-listen. */
export const METRICS_PATH = '/metrics'

export const PAGES = {
  // The secret link, with and without the confirmation step, and the page for its sender.
  receive: get('/p/:url_token', 'open'),
  reveal: post('/p/:url_token', 'open'),
  receiveStep: get('/p/:url_token/r', 'open'),
  revealStep: post('/p/:url_token/r', 'open'),
  expire: post('/p/:url_token/expire', 'open'),
  saveText: post('/p/:url_token/save', 'open'),
  created: get('/p/:url_token/preview', 'open'),

  // A provider that signs people in, and accounts before they are signed in.
  /** Exists only on servers with an OpenID provider, like the next four. */
  startProvider: get('/sign-in/oidc', 'open'),
  submitProvider: post('/sign-in/oidc', 'open'),
  providerCallback: get('/sign-in/oidc/callback', 'open'),
  /** Exists only on servers where browsers can use passkeys, like the next one. */
  startPasskey: post('/sign-in/passkey/challenge', 'open'),
  submitPasskey: post('/sign-in/passkey', 'open'),
  /** Exists only with --auth-header. */
  headerSignIn: get('/sign-in/header', 'open'),
  /** The provider calls this itself, without a form token. */
  providerLogout: post('/sign-in/oidc/logout', 'open'),
  signIn: get('/sign-in', 'open'),
  submitSignIn: post('/sign-in', 'open'),
  submitCode: post('/sign-in/code', 'open'),
  /** Exists only on servers that send mail. */
  forgot: get('/sign-in/forgot', 'open'),
  submitForgot: post('/sign-in/forgot', 'open'),
  signUp: get('/sign-up', 'open'),
  submitSignUp: post('/sign-up', 'open'),
  welcome: get('/welcome/:link', 'open'),
  submitWelcome: post('/welcome/:link', 'open'),

  create: get('/', 'visitor'),
  /** Open, because the form itself asks to sign in and so keeps what was typed when the session has ended. */
  submitCreate: post('/', 'open'),
  /**
   * Receives what the operating system shares with the installed app, and fills in the form to create a push.
   */
  share: post('/share', 'visitor'),
  previousApi: get('/api', 'open'),
  trust: get('/trust', 'open'),

  // An account's own pushes.
  pushes: get('/pushes', 'member'),
  changePushes: post('/pushes', 'member'),
  push: get('/pushes/:url_token', 'member'),
  editPush: post('/pushes/:url_token/edit', 'member'),
  expireOwn: post('/pushes/:url_token/expire', 'member'),
  unlock: post('/pushes/:url_token/unlock', 'member'),
  /** Shows the content of an answer to its owner. */
  readAnswer: post('/pushes/:url_token/read', 'member'),
  /** Fills in the form to create a push with the text of an answer. */
  passOn: post('/pushes/:url_token/pass-on', 'member'),
  auditCsv: get('/pushes/:url_token/audit.csv', 'member'),
  auditJson: get('/pushes/:url_token/audit.json', 'member'),

  // An account's requests for secrets.
  requests: get('/requests', 'member'),
  ask: post('/requests', 'member'),
  request: get('/requests/:url_token', 'member'),
  closeRequest: post('/requests/:url_token/close', 'member'),
  // The link of a request, for the person who has the secret.
  answer: get('/q/:url_token', 'open'),
  submitAnswer: post('/q/:url_token', 'open'),

  // The account itself.
  tokens: get('/users/token', 'member'),
  createToken: post('/users/token', 'member'),
  revokeToken: post('/users/token/revoke', 'member'),
  account: get('/account', 'member'),
  changePassword: post('/account/password', 'member'),
  endSession: post('/account/sessions', 'member'),
  listCsv: get('/account/list.csv', 'member'),
  listJson: get('/account/list.json', 'member'),
  message: get('/account/message', 'member'),
  keepMessage: post('/account/message', 'member'),
  twoFactor: get('/account/two-factor', 'member'),
  turnOnTwoFactor: post('/account/two-factor', 'member'),
  turnOffTwoFactor: post('/account/two-factor/off', 'member'),
  keepRecipient: post('/account/age-key', 'member'),
  linkProvider: post('/account/provider', 'member'),
  unlinkProvider: post('/account/provider/remove', 'member'),
  newPasskey: post('/account/passkeys/new', 'member'),
  addPasskey: post('/account/passkeys', 'member'),
  removePasskey: post('/account/passkeys/remove', 'member'),
  notices: get('/account/notices', 'member'),
  addWebhook: post('/account/webhooks', 'member'),
  removeWebhook: post('/account/webhooks/delete', 'member'),
  testWebhook: post('/account/webhooks/test', 'member'),
  keepNotices: post('/account/mail', 'member'),
  testMail: post('/account/mail/test', 'member'),
  signOut: post('/sign-out', 'member'),

  // Administration.
  admin: get('/admin', 'admin'),
  /** The first page of a new administrator. */
  firstSteps: get('/admin/welcome', 'admin'),
  invite: post('/admin/invitations', 'admin'),
  withdrawInvitation: post('/admin/invitations/:id/remove', 'admin'),
  disableAccount: post('/admin/accounts/:id/disable', 'admin'),
  enableAccount: post('/admin/accounts/:id/enable', 'admin'),
  promoteAccount: post('/admin/accounts/:id/promote', 'admin'),
  demoteAccount: post('/admin/accounts/:id/demote', 'admin'),
  serviceAccount: post('/admin/accounts/:id/service', 'admin'),
  personAccount: post('/admin/accounts/:id/person', 'admin'),
  resetAccount: post('/admin/accounts/:id/reset', 'admin'),
  removeAccount: post('/admin/accounts/:id/remove', 'admin'),
  changeAppearance: post('/admin/appearance', 'admin'),
  acceptClock: post('/admin/clock', 'admin'),
  backUp: post('/admin/backup', 'admin'),
  allWebhooks: get('/admin/webhooks', 'admin'),
  keepAllNotices: post('/admin/webhooks/events', 'admin'),
  addAllWebhook: post('/admin/webhooks', 'admin'),
  removeAllWebhook: post('/admin/webhooks/delete', 'admin'),
  testAllWebhook: post('/admin/webhooks/test', 'admin'),
}

/** A path of Password Pusher, or of an earlier version, and the path that replaces it. */
export type Redirect = Endpoint<'GET'> & { to: (urlToken: string) => string }

/**
 * Replaces suffixes of Password Pusher's secret links by pages of this server. `/passphrase` becomes the
 * secret link, whose page asks for the passphrase.
 */
const SECRET_LINK_PAGES = [
  ['', PAGES.receive],
  ['/r', PAGES.receiveStep],
  ['/preview', PAGES.created],
  ['/passphrase', PAGES.receive],
  ['/audit', PAGES.push],
] as const

/** Other paths of Password Pusher, by the page that replaces them. */
const OLDER_PAGES = [
  [PAGES.create, '/p/new', '/f/new', '/r/new'],
  [PAGES.pushes, '/p', '/f', '/r'],
  [PAGES.signIn, '/login', '/users/sign_in'],
  [PAGES.signUp, '/users/sign_up'],
  [PAGES.forgot, '/users/password/new'],
  [PAGES.account, '/users/edit'],
  [PAGES.tokens, '/api_tokens'],
  [API.docs, '/help/api'],
] as const

export const MOVED: readonly Redirect[] = [
  ...['/p', '/f', '/r', '/:locale/p', '/:locale/f', '/:locale/r'].flatMap((family) =>
    SECRET_LINK_PAGES.map(([suffix, page]) => ({ path: `${family}/:url_token${suffix}`, page }))
      .filter(({ path, page }) => path !== page.path)
      .flatMap(({ path, page }) => moved(ofPush(page), path)),
  ),
  ...OLDER_PAGES.flatMap(([page, ...paths]) =>
    paths.flatMap((path) => moved(() => page.href(), path, `/:locale${path}`)),
  ),
  ...moved(() => PAGES.tokens.href(), '/:locale/users/token'),
  ...moved(() => PAGES.create.href(), '/:locale'),
]

/** Redirects to a page of the same push. */
function ofPush(page: { href: (parameters: { url_token: string }) => string }): Redirect['to'] {
  return (urlToken) => page.href({ url_token: urlToken })
}

export function moved(to: Redirect['to'], ...from: (string | Endpoint)[]): Redirect[] {
  const paths = from.map((older) => (typeof older === 'string' ? older : older.path))
  return paths.map((path) => ({ method: 'GET', path, guard: 'open', to }))
}

const TO_SECRET_LINKS = [PAGES.receive, PAGES.receiveStep].map((page) => page.href({ url_token: '-' }))
/** Links with another letter or with a language prefix. `/p/…/passphrase` is only an intermediate page. */
const OLDER_LINK = /^\/(?:[fr]|:locale\/[pfr])\//

/** The URLs of --receive-listen. Every other path and method answers 404 there. */
export const RECIPIENT_URLS: readonly Endpoint[] = [
  PAGES.receive,
  PAGES.reveal,
  PAGES.receiveStep,
  PAGES.expire,
  PAGES.answer,
  PAGES.submitAnswer,
  ...MOVED.filter(({ path, to }) => OLDER_LINK.test(path) && TO_SECRET_LINKS.includes(to('-'))),

  API.retrieve,
  API.preview,
  API.expire,
  API.answer,

  FILES.download,
  FILES.asset,
  FILES.favicon,
  FILES.touchIcon,
  FILES.manifest,
  FILES.robots,
  FILES.up,
]

/**
 * Paths that are exempt from rate limits, load shedding and the check of the Host, because clients ask for
 * the version first.
 */
export const EXEMPT_PATHS: ReadonlySet<string> = new Set([API.version.path, PREVIOUS_API.version.path])

/** Prefixes of endpoints that also answer with `.json` at their end. */
export const ENDPOINT_PREFIXES: readonly string[] = ['/api/v2/', '/api/v1/', '/api/oncebox/']

/** Prefixes below which every answer is JSON, refusals included. */
export const JSON_PREFIXES: readonly string[] = ['/api/', FILES.download.href({ grant: '' })]

/** Whether this is the page of a secret link. */
export function isSecretPath(path: string): boolean {
  return path.startsWith(PAGES.receive.href({ url_token: '' }))
}

/** Whether this is the page of a link that is given away: a secret link, or that of a request. */
export function isGivenPath(path: string): boolean {
  return isSecretPath(path) || path.startsWith(PAGES.answer.href({ url_token: '' }))
}

type SecretAddress = { push: { retrievalStep: boolean }; urlToken: string }

/** Returns the path of the secret link, with the confirmation step if the push has one. */
export function secretHref({ push, urlToken }: SecretAddress): string {
  return (push.retrievalStep ? PAGES.receiveStep : PAGES.receive).href({ url_token: urlToken })
}

/** Returns the link of a request, for the person who has the secret. */
export function requestLink(urlToken: string, linkBase: string): string {
  return `${linkBase}${PAGES.answer.href({ url_token: urlToken })}`
}

/** Returns the secret link, for the recipient. */
export function secretLink(addressed: SecretAddress, linkBase: string): string {
  return `${linkBase}${secretHref(addressed)}`
}

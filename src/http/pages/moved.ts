// Links of older servers and of other languages lead to where the same thing is here, in the language that they name.

import { DomainError } from '../../domain/errors.ts'
import { answerMoved } from '../door/answers.ts'
import { pathOf } from '../door/paths.ts'
import type { Route } from '../door/router.ts'
import { LANGUAGE_PARAMETER } from './frame/guest.ts'

/** What may follow the link of a push, and what follows it here. The page of a push asks for the passphrase itself. */
const STEPS = { '': '', '/r': '/r', '/preview': '/preview', '/passphrase': '' }

/**
 * `/f/:t`, `/r/:t`, the same as `/p/:t` behind a language, and `/p/:t/passphrase` lead to `/p/:t`; older paths lead to the API
 * tokens, and a language alone to the first page. The query is kept, and the language as a part of it.
 */
export function createMovedRoutes(basePath: string): Route[] {
  const moved = (path: string, to: (urlToken: string) => string): Route => ({
    method: 'GET',
    path,
    access: 'open',
    answer: ({ exchange: { request }, params: { locale = null, url_token = 'none' } }) => {
      // Whatever an older server called a push: there is none here, and its page says so.
      if (!/^[\w-]+$/.test(url_token)) throw new DomainError('not_found', 'not-found')
      return answerMoved(`${basePath}${to(url_token)}${queryWith(locale, request.url)}`)
    },
  })
  const pushes = ['/f', '/r', '/:locale/p', '/:locale/f', '/:locale/r'].flatMap((family) =>
    Object.entries(STEPS).map(([step, to]) =>
      moved(`${family}/:url_token${step}`, (urlToken) => `/p/${urlToken}${to}`),
    ),
  )
  const apiTokens = ['/api_tokens', '/:locale/api_tokens', '/:locale/users/token']
  return [
    ...pushes,
    moved('/p/:url_token/passphrase', (urlToken) => `/p/${urlToken}`),
    ...apiTokens.map((path) => moved(path, () => '/users/token')),
    moved('/:locale', () => '/'),
  ]
}

/** The query of the request, with the language of its path in place of another one. */
function queryWith(locale: string | null, url: string): string {
  const path = pathOf(url)
  const query = url.slice(url.indexOf(path) + path.length)
  if (locale === null) return query
  const others = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== LANGUAGE_PARAMETER)
  return `?${[...others, `${LANGUAGE_PARAMETER}=${locale}`].join('&')}`
}

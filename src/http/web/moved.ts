// Links of older servers and of other languages: the same push has one page here.

import { DomainError } from '../../domain/errors.ts'
import { answerMoved } from '../answers.ts'
import { pathOf } from '../paths.ts'
import type { Route } from '../router.ts'

const LOCALE = /^[a-z]{2}(-[A-Za-z]{2,4})?$/
const STEPS = ['', '/r', '/preview']

/** `/f/:t`, `/r/:t` and `/:locale/p/:t`, with what may follow, lead to `/p/:t`; the query is kept. API tokens have one page. */
export function createMovedRoutes(basePath: string): Route[] {
  const plain = ['/f/:url_token', '/r/:url_token']
  const translated = ['p', 'f', 'r'].map((family) => `/:locale/${family}/:url_token`)
  const tokens = ['/api_tokens', '/:locale/users/token'].map(
    (path): Route => ({ method: 'GET', path, access: 'open', answer: moveToTokens(basePath) }),
  )
  return [
    ...tokens,
    ...[...plain, ...translated].flatMap((path) =>
      STEPS.map(
        (step): Route => ({
          method: 'GET',
          path: `${path}${step}`,
          access: 'open',
          answer: moveTo(step, basePath),
        }),
      ),
    ),
  ]
}

/** Where clients send people for a token. */
function moveToTokens(basePath: string): Route['answer'] {
  return ({ params: { locale = 'en' } }) => {
    if (!LOCALE.test(locale)) throw new DomainError('not_found', 'not-found')
    return answerMoved(`${basePath}/users/token`)
  }
}

function moveTo(step: string, basePath: string): Route['answer'] {
  return ({ exchange: { request }, params: { locale = 'en', url_token = '' } }) => {
    // Whatever an older server called a push: there is none here, and its page says so.
    if (!LOCALE.test(locale) || !/^[\w-]+$/.test(url_token)) throw new DomainError('not_found', 'not-found')
    const query = request.url.slice(request.url.indexOf(pathOf(request.url)) + pathOf(request.url).length)
    return answerMoved(`${basePath}/p/${url_token}${step}${query}`)
  }
}

// The API tokens of an account: creates, lists and revokes them. A token is shown once.

import type { ApiTokens, NewApiToken } from '../../accounts/api-tokens.ts'
import { type ApiToken, MAX_TOKEN_NAME_LENGTH } from '../../domain/account.ts'
import { isDomainError, isOutage } from '../../domain/errors.ts'
import { PAGES } from '../../http/urls.ts'
import { Input, maxLengthOf, problemText, RefusedFields } from '../frame/fields.tsx'
import type { Form } from '../frame/form.ts'
import { leadTo, type Member } from '../frame/guest.ts'
import { Row } from '../frame/lists.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { CopyButton, LinkBox, Moment, ShownOnce } from '../frame/parts.tsx'
import { ButtonForm, PostForm, Submit } from '../frame/post-form.tsx'
import { AccountTabs } from './account-tabs.tsx'

export type TokenPageOptions = { answer: AnswerGuest; apiTokens: ApiTokens }

type TokenPageState = { made?: NewApiToken; problem?: string; name?: string }

export function createTokenPages({ answer, apiTokens }: TokenPageOptions) {
  async function show(guest: Member, { made, problem, name = '' }: TokenPageState = {}): Promise<Response> {
    const { say } = guest
    const listing = apiTokens.listApiTokens(guest.account.email)
    // This is the only time a new token can be shown, so an outage while the others are listed must not hide
    // it.
    const tokens = await (made === undefined ? listing : listing.catch(nullInOutage))
    const content = (
      <>
        <h1>{say('tokens_title')}</h1>
        <p class="lead">{say('tokens_lead')}</p>
        <AccountTabs guest={guest} current="tokens" />
        {made && (
          <ShownOnce id="token" label={say('token')} text={made.apiToken} words={guest.words}>
            {say('token_made', { name: made.name })}
          </ShownOnce>
        )}
        {made && (
          <>
            <p>{say('token_login')}</p>
            <LinkBox id="login" label="oncebox login" text={`oncebox login ${guest.exchange.baseUrl}`}>
              <CopyButton target="login" words={guest.words} />
            </LinkBox>
          </>
        )}
        <TokenList guest={guest} tokens={tokens} />
        <section aria-labelledby="new-title">
          <h2 id="new-title">{say('token_new')}</h2>
          <PostForm guest={guest} action={PAGES.createToken.href()} look="narrow">
            <RefusedFields problems={{ name: problem }} words={guest.words} />
            <Input
              id="name"
              name="name"
              label={say('token_name')}
              hint={say('token_name_hint')}
              problem={problem}
              value={name}
              attributes={{ maxlength: maxLengthOf(MAX_TOKEN_NAME_LENGTH), autocomplete: 'off' }}
            />
            <Submit>{say('token_create')}</Submit>
          </PostForm>
        </section>
      </>
    )
    const status = problem === undefined ? 200 : 422
    const languageSwitch = made === undefined
    return answer(content, { guest, title: say('tokens_title'), status, languageSwitch })
  }

  async function create(guest: Member, form: Form): Promise<Response> {
    const { email } = guest.account
    const name = form.text('name').trim()
    try {
      const { id: session } = guest.session.session
      const made = await apiTokens.createApiToken(name === '' ? { email, session } : { email, session, name })
      return show(guest, { made })
    } catch (cause) {
      return show(guest, { problem: explain(guest, cause), name })
    }
  }

  async function revoke(guest: Member, form: Form): Promise<Response> {
    await apiTokens.revokeOwn({ email: guest.account.email, id: Number(form.text('id')) })
    return leadTo(guest, PAGES.tokens.href())
  }

  return { show: (guest: Member) => show(guest), create, revoke }
}

function explain({ words }: Member, cause: unknown): string {
  if (isDomainError(cause, 'conflict')) return words.say('token_name_taken')
  const [problem] = isDomainError(cause, 'invalid') ? (cause.details.problems?.name ?? []) : []
  if (problem === undefined) throw cause
  return problemText(problem, words)
}

function nullInOutage(cause: unknown): null {
  if (isOutage(cause)) return null
  throw cause
}

/** `tokens` is null during an outage of the store. */
function TokenList({ guest, tokens }: { guest: Member; tokens: ApiToken[] | null }) {
  const { words, say } = guest
  if (tokens === null) return <p>{say('token_list_later')}</p>
  if (tokens.length === 0) return <p>{say('tokens_none')}</p>
  return (
    <ul class="rows">
      {tokens.map(({ id, name, prefix, createdAt, lastUsedAt }) => (
        <Row
          title={name}
          beside={prefix !== '' && <code>{prefix}…</code>}
          action={
            <ButtonForm
              guest={guest}
              action={PAGES.revokeToken.href()}
              hidden={{ id }}
              look="danger"
              label={say('token_revoke')}
              about={name}
            />
          }
        >
          <p class="hint">
            {say('created_on')} <Moment at={createdAt} words={words} />
          </p>
          <p class="hint">
            {lastUsedAt === null
              ? say('token_unused')
              : [say('token_last_used'), ' ', <Moment at={lastUsedAt} words={words} />]}
          </p>
        </Row>
      ))}
    </ul>
  )
}

// The sections of the administration page about accounts, invitations and settings.

import type { Account, AccountLink } from '../../../domain/account.ts'
import type { Problems } from '../../../domain/problems.ts'
import type { WordKey } from '../../../words/words.ts'
import { PAGES } from '../../urls.ts'
import type { Member } from '../frame/guest.ts'
import { ButtonForm, FormToken, Input, Moment, problemTexts, Tick } from '../frame/parts.tsx'

/** A setting in effect, without secrets, and where its value comes from. */
export type SettingInEffect = { flag: string; value: string; from: string; help: string }

type AccountListProps = { guest: Member; accounts: Account[]; resetNonce: (account: Account) => string }

export function AccountList({ guest, accounts, resetNonce }: AccountListProps) {
  const { say } = guest.words
  return (
    <section aria-labelledby="accounts-title">
      <h2 id="accounts-title">{say('admin_accounts')}</h2>
      <ul class="rows">
        {accounts.map((account) => (
          <li key={account.id}>
            <div>
              <strong>
                <bdi>{account.email}</bdi>
              </strong>
              <p class="hint">
                {[
                  say(account.isAdmin ? 'role_admin' : 'role_user'),
                  ...(account.disabledAt === null ? [] : [say('account_disabled')]),
                  ...(account.hasTwoFactor ? [say('account_two_factor')] : []),
                ].join(' · ')}
              </p>
            </div>
            {account.id === guest.account.id ? (
              <p class="hint">{say('account_own')}</p>
            ) : (
              <AccountActions guest={guest} account={account} resetNonce={resetNonce(account)} />
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

type AccountActionsProps = { guest: Member; account: Account; resetNonce: string }

function AccountActions({ guest, account, resetNonce }: AccountActionsProps) {
  const { say } = guest.words
  const { id } = account
  return (
    <details class="more">
      <summary aria-label={`${say('account_change')}: ${account.email}`}>{say('account_change')}</summary>
      {account.disabledAt === null ? (
        <ButtonForm guest={guest} action={PAGES.disableAccount.href({ id })} label={say('account_disable')} />
      ) : (
        <ButtonForm guest={guest} action={PAGES.enableAccount.href({ id })} label={say('account_enable')} />
      )}
      <form method="post" action={guest.href(PAGES.resetAccount.href({ id }))}>
        <FormToken guest={guest} />
        <input type="hidden" name="nonce" value={resetNonce} />
        {account.hasTwoFactor ? (
          <Tick
            id={`two-factor-${account.id}`}
            name="two_factor"
            label={say('account_reset_two_factor')}
            isTicked={false}
          />
        ) : null}
        <button type="submit" class="quiet">
          {say('account_reset')}
        </button>
      </form>
      <form method="post" action={guest.href(PAGES.removeAccount.href({ id }))}>
        <FormToken guest={guest} />
        <div class="tick">
          <input type="checkbox" id={`sure-${account.id}`} name="sure" value="true" required />
          <label for={`sure-${account.id}`}>{say('account_remove_sure')}</label>
        </div>
        <button type="submit" class="danger">
          {say('account_remove')}
        </button>
      </form>
    </details>
  )
}

/** What this link does for the account that opens it. */
function linkWord({ purpose, isAdmin }: AccountLink): WordKey {
  if (purpose === 'reset') return 'admin_link_reset'
  return isAdmin ? 'role_admin' : 'role_user'
}

type InvitationsProps = {
  guest: Member
  invitations: AccountLink[]
  /** Good for one invitation. */
  nonce: string
  problems: Problems
  email: string
  isForAdmin: boolean
}

export function Invitations(props: InvitationsProps) {
  const { guest, invitations, nonce, problems, email, isForAdmin } = props
  const { words } = guest
  const { say } = words
  return (
    <section aria-labelledby="invite-title">
      <h2 id="invite-title">{say('admin_invite')}</h2>
      <form method="post" action={guest.href(PAGES.invite.href())} class="narrow">
        <FormToken guest={guest} />
        <input type="hidden" name="nonce" value={nonce} />
        <Input
          id="email"
          name="email"
          type="email"
          label={say('email')}
          hint={say('admin_invite_hint')}
          problem={problemTexts(problems, words).email}
          value={email}
          attributes={{ required: true, autocomplete: 'off' }}
        />
        <Tick id="is_admin" name="is_admin" label={say('admin_invite_admin')} isTicked={isForAdmin} />
        <button type="submit">{say('admin_invite_submit')}</button>
      </form>
      <ul class="rows">
        {invitations.map((link) => (
          <li key={link.id}>
            <div>
              <strong>
                <bdi>{link.email}</bdi>
              </strong>
              <p class="hint">
                {say(linkWord(link))}: {say('admin_invited_until')}{' '}
                <Moment at={link.expiresAt} words={words} />
              </p>
            </div>
            <ButtonForm
              guest={guest}
              action={PAGES.withdrawInvitation.href({ id: link.id })}
              label={say('admin_withdraw')}
            />
          </li>
        ))}
      </ul>
    </section>
  )
}

export function SettingsTable({ guest, settings }: { guest: Member; settings: readonly SettingInEffect[] }) {
  const { say } = guest.words
  return (
    <section aria-labelledby="settings-title">
      <h2 id="settings-title">{say('admin_settings')}</h2>
      <p class="hint">{say('admin_settings_hint')}</p>
      <div class="scrolls" tabIndex={0}>
        <table dir="ltr">
          <thead>
            <tr>
              <th scope="col">{say('setting')}</th>
              <th scope="col">{say('setting_value')}</th>
              <th scope="col">{say('setting_from')}</th>
            </tr>
          </thead>
          <tbody>
            {settings.map(({ flag, value, from, help }) => (
              <tr key={flag}>
                <th scope="row" title={help}>
                  <code>--{flag}</code>
                </th>
                <td>{value}</td>
                <td>{from === 'default' ? say('setting_default') : <code>{from}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

// Asks before selected pushes are expired: in the list itself by a script, otherwise on its own page.

import { PAGES } from '../../http/urls.ts'
import type { LabelledPush } from '../../pushes/owner-lists.ts'
import type { Words } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import { EmblemCard, nameForOwner } from '../frame/parts.tsx'
import { PostForm, Submit } from '../frame/post-form.tsx'
import { type ListQuery, listHref } from './list-query.ts'

type QuestionProps = { guest: Member; title: string; listQuery: ListQuery; selected: readonly LabelledPush[] }

export function ExpireQuestion({ guest, title, listQuery, selected }: QuestionProps) {
  const { words, href, say } = guest
  const n = selected.length
  const list = listHref(listQuery)
  return (
    <EmblemCard icon="triangle-alert" tone="bad" title={title}>
      <ul>
        {selected.map((push) => (
          <li>
            <bdi>{nameForOwner(push, words)}</bdi>
          </li>
        ))}
      </ul>
      <p>{say('pushes_expire_explained', { n })}</p>
      <PostForm
        guest={guest}
        action={PAGES.changePushes.href()}
        hidden={{ list: queryOf(list), do: 'expire', sure: 'yes' }}
      >
        {selected.map(({ urlToken }) => (
          <input type="hidden" name="push" value={urlToken} />
        ))}
        <div class="actions">
          <Submit look="danger">{title}</Submit>
          <a href={href(list)}>{say('cancel')}</a>
        </div>
      </PostForm>
    </EmblemCard>
  )
}

/** Returns the filters of a list as a query, for the hidden field that leads back to the list. */
export function queryOf(list: string): string {
  return list.split('?')[1] ?? ''
}

/** The question that a script shows in place of the pressed button; the script fills in the number. */
export function AskInPlace({ words: { say, forms } }: { words: Words }) {
  return (
    <fieldset class="ask" aria-labelledby="ask" hidden disabled data-asks>
      <p id="ask" data-forms={JSON.stringify(forms('pushes_expire_explained'))} />
      <input type="hidden" name="sure" value="yes" />
      <button type="submit" class="danger" data-forms={JSON.stringify(forms('pushes_expire_n'))} />
      <button type="button" class="quiet">
        {say('cancel')}
      </button>
    </fieldset>
  )
}

// The message that contains a secret link: the sender's own, or the standard one in the language of the page.

import { fillMessage } from '../../domain/message-template.ts'
import { type Push, viewsRemaining } from '../../domain/push.ts'
import type { OwnRequest } from '../../requests/requests.ts'
import type { Words } from '../../words/words.ts'

type MessageOptions = { template: string | null; push: Push; name: string; link: string; words: Words }

export function messageFor({ template, push, name, link, words }: MessageOptions): string {
  const message = fillMessage(
    template ?? standardTemplate(words, name === '' ? 'message' : 'message_named'),
    {
      link,
      expires: words.moment(push.expiresAt),
      views: words.say('views', { n: viewsRemaining(push) }),
      name,
    },
  )
  return push.passphraseRequired ? `${message}\n\n${words.say('message_passphrase')}` : message
}

type StandardMessage = 'message' | 'message_named' | 'request_message'

export function standardTemplate(words: Words, key: StandardMessage = 'message'): string {
  return `${words.say(key)}\n\n{link}`
}

type RequestMessageOptions = Pick<MessageOptions, 'template' | 'link' | 'words'> & { own: OwnRequest }

/** Returns the message that contains the link of a request. It begins with what is asked for. */
export function requestMessage({ template, own, link, words }: RequestMessageOptions): string {
  const { message, request, passphraseRequired } = own
  const facts = {
    link,
    expires: words.moment(request.expiresAt),
    views: words.say('views', { n: request.maxAnswers - request.answers }),
    name: '',
  }
  const asking = fillMessage(template ?? standardTemplate(words, 'request_message'), facts)
  const passphrase = passphraseRequired ? words.say('message_passphrase') : ''
  return [message.trim(), asking, passphrase].filter((part) => part !== '').join('\n\n')
}

/** Returns a mailto: link without a recipient (RFC 6068). */
export function mailHref({ subject, body }: { subject: string; body: string }): string {
  const lines = body.replace(/\r?\n/g, '\r\n')
  return `mailto:?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(lines)}`
}

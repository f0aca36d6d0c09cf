// The members of each answer of the API: all of them, and no others.

export const PUSH = [
  'url_token',
  'html_url',
  'json_url',
  'kind',
  'created_at',
  'updated_at',
  'expire_after_days',
  'expire_after_views',
  'days_remaining',
  'views_remaining',
  'expires_at',
  'expired',
  'expired_on',
  'deleted',
  'deletable_by_viewer',
  'retrieval_step',
  'passphrase',
  'passphrase_required',
] as const

export const CREATED = [...PUSH, 'name', 'note', 'files']
export const RETRIEVED = [...PUSH, 'payload', 'files']
export const LISTED = [...PUSH, 'name', 'note']
export const AUDIT_ENTRY = ['ip', 'user_agent', 'referrer', 'kind', 'created_at', 'updated_at']

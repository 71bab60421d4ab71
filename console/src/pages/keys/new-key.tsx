import { useMutation } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';

import { CreateServiceKeyDocument, ServiceKeysDocument } from '../../api/operations.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

/** Makes a service key, and shows its secret the one time that it can be seen. */
export function NewKey() {
  const id = useId();
  const [name, setName] = useState('');
  const [scope, setScope] = useState('');
  const [create, { data, error, loading }] = useMutation(CreateServiceKeyDocument, {
    refetchQueries: [ServiceKeysDocument],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create({ variables: { name, scopes: scope === '' ? [] : [scope] } }).then(
      () => setName(''),
      () => undefined,
    );
  };
  const secret = data?.createServiceKey.secret;
  return (
    <form className="pad col gap-3" onSubmit={submit}>
      <div className="row wrap items-end">
        <div className="field grow">
          <label htmlFor={id}>{t('field.name')}</label>
          <input
            id={id}
            className="in"
            required
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-scope`}>{t('keys.scopes')}</label>
          <select
            id={`${id}-scope`}
            className="in"
            value={scope}
            onChange={({ target }) => setScope(target.value)}
          >
            <option value="">{t('keys.ordinary')}</option>
            <option value="admin">{t('keys.admin')}</option>
          </select>
        </div>
        <button type="submit" className="btn pri" disabled={loading || name.trim() === ''}>
          {t('keys.create')}
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
      {secret !== undefined && (
        <div className="note" role="status">
          <div className="col grow">
            <p>{t('keys.once')}</p>
            <p className="row">
              <code className="grow">{secret}</code>
              <CopyButton text={secret} />
            </p>
          </div>
        </div>
      )}
    </form>
  );
}

import { useMutation } from '@apollo/client/react';
import { type FormEvent, useId, useState } from 'react';

import { graphqlUrl } from '../../api/addresses.ts';
import { CreateServiceKeyDocument, ServiceKeysDocument } from '../../api/operations.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

const SCOPES = ['read', 'start', 'manage', 'admin'] as const;
const USUAL: readonly string[] = ['read', 'start', 'manage'];
const ENDS = [30, 90, 365] as const;
const DAY_MS = 86_400_000;

/** Makes a service key with its bounds, and shows its secret the one time that it can be seen. */
export function NewKey() {
  const id = useId();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(USUAL));
  const [generators, setGenerators] = useState('');
  const [days, setDays] = useState(0);
  const [create, { data, error, loading }] = useMutation(CreateServiceKeyDocument, {
    refetchQueries: [ServiceKeysDocument],
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const only = generators.split(/[\s,]+/).filter((one) => one !== '');
    const variables = {
      name,
      scopes: [...scopes],
      generators: only.length === 0 ? null : only,
      expiresAt: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
    };
    create({ variables }).then(
      () => setName(''),
      () => undefined,
    );
  };
  return (
    <form className="pad col gap-3" onSubmit={submit}>
      <div className="key-form">
        <div className="field">
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
          <label htmlFor={`${id}-generators`}>{t('keys.generators')}</label>
          <input
            id={`${id}-generators`}
            className="in"
            placeholder={t('keys.anyGenerator')}
            aria-describedby={`${id}-help`}
            value={generators}
            onChange={({ target }) => setGenerators(target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor={`${id}-end`}>{t('keys.expires')}</label>
          <select
            id={`${id}-end`}
            className="in"
            value={days}
            onChange={({ target }) => setDays(Number(target.value))}
          >
            <option value={0}>{t('keys.noEnd')}</option>
            {ENDS.map((count) => (
              <option key={count} value={count}>
                {t('keys.inDays', { count })}
              </option>
            ))}
          </select>
        </div>
      </div>
      <p className="help" id={`${id}-help`}>
        {t('keys.generatorsHelp')}
      </p>
      <Scopes chosen={scopes} onChange={setScopes} />
      <button
        type="submit"
        className="btn pri self-start"
        disabled={loading || name.trim() === '' || scopes.size === 0}
      >
        {t('keys.create')}
      </button>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && data !== null && <Secret secret={data.createServiceKey.secret} />}
    </form>
  );
}

interface ScopesProps {
  readonly chosen: ReadonlySet<string>;
  readonly onChange: (scopes: ReadonlySet<string>) => void;
}

function Scopes({ chosen, onChange }: ScopesProps) {
  return (
    <fieldset className="field">
      <legend>{t('keys.may')}</legend>
      <div className="row wrap gap-4">
        {SCOPES.map((scope) => (
          <label key={scope} className="row">
            <input
              type="checkbox"
              className="check"
              checked={chosen.has(scope)}
              onChange={({ target }) => {
                const rest = [...chosen].filter((one) => one !== scope);
                onChange(new Set(target.checked ? [...rest, scope] : rest));
              }}
            />
            {t(`keys.scope.${scope}`)}
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The secret, and a request that uses it. */
function Secret({ secret }: { readonly secret: string }) {
  const code = `curl -s ${graphqlUrl} -H 'authorization: Bearer ${secret}' \\
  -H 'content-type: application/json' -d '{"query":"{ caller { id kind } }"}'`;
  return (
    <div className="note" role="status">
      <div className="col grow">
        <p>{t('keys.once')}</p>
        <p className="row">
          <code className="grow wrap-anywhere">{secret}</code>
          <CopyButton text={secret} />
        </p>
        <p className="row">
          <span className="c12 mute grow">{t('keys.try')}</span>
          <CopyButton text={code} />
        </p>
      </div>
    </div>
  );
}

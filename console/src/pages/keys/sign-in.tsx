import { type FormEvent, useId, useState } from 'react';

import { setCredential, useIsSignedIn } from '../../api/credential.ts';
import { t } from '../../text/text.ts';

/** Takes a service key or an access token for this tab, and forgets it again. */
export function SignIn() {
  const isSignedIn = useIsSignedIn();
  const [key, setKey] = useState('');
  const id = useId();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (key.trim() === '') return;
    setCredential(key.trim());
    setKey('');
  };
  return (
    <section className="card">
      <header>
        <h2>{t('keys.signIn')}</h2>
      </header>
      {isSignedIn ? (
        <div className="pad row wrap">
          <p className="grow">{t('keys.signedIn')}</p>
          <button type="button" className="btn" onClick={() => setCredential(null)}>
            {t('keys.signOut')}
          </button>
        </div>
      ) : (
        <form className="pad col gap-3" onSubmit={submit}>
          <div className="field">
            <label htmlFor={id}>{t('keys.key')}</label>
            <input
              id={id}
              className="in"
              type="password"
              autoComplete="off"
              value={key}
              onChange={({ target }) => setKey(target.value)}
            />
            <p className="help">{t('keys.help')}</p>
          </div>
          <button type="submit" className="btn pri self-start">
            {t('keys.signIn')}
          </button>
        </form>
      )}
    </section>
  );
}

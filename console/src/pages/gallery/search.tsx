import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef } from 'react';

import { Icon } from '../../parts/icons.tsx';
import { t } from '../../text/text.ts';

/** Searches the words of prompts; `/` goes there. */
export function Search({ find }: { readonly find: string | undefined }) {
  const navigate = useNavigate({ from: '/gallery' });
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.closest('input, textarea, select');
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const words = input.current?.value.trim() ?? '';
    void navigate({
      search: ({ kind }) => ({
        ...(kind === undefined ? {} : { kind }),
        ...(words === '' ? {} : { find: words }),
      }),
    });
  };
  return (
    <form role="search" className="find wide" onSubmit={submit}>
      <Icon name="search" />
      <input
        key={find}
        ref={input}
        type="search"
        className="in"
        aria-label={t('gallery.search')}
        placeholder={t('gallery.search')}
        defaultValue={find}
      />
    </form>
  );
}

import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';

import { CopyButton } from './copy-button.tsx';

interface CodeTabsProps {
  readonly title: string;
  /** The code by the name of its tab; the first one is open. */
  readonly codes: Readonly<Record<string, string>>;
}

/** The same in several languages of programs, to copy. */
export function CodeTabs({ title, codes }: CodeTabsProps) {
  const names = Object.keys(codes);
  const [chosen, choose] = useState(names[0] ?? '');
  const code = codes[chosen] ?? '';
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        <span className="ml-auto">
          <CopyButton text={code} />
        </span>
      </header>
      <Tabs.Root value={chosen} onValueChange={(next) => choose(String(next))}>
        <Tabs.List
          className="seg mt-3 mr-4 mb-0 ml-4 [&>[data-active]]:bg-surface [&>[data-active]]:text-text"
          aria-label={title}
        >
          {names.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={chosen}>
          <pre className="code" tabIndex={0}>
            {code}
          </pre>
        </Tabs.Panel>
      </Tabs.Root>
    </section>
  );
}

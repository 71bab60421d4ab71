import { Tabs } from '@base-ui/react/tabs';
import { useState } from 'react';

import { CopyButton } from './buttons.tsx';
import { segmentLook, segmentsLook } from './looks/choices.tsx';
import { Card, CardHead } from './looks/panels.tsx';

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
    <Card>
      <CardHead title={title}>
        <span className="ml-auto">
          <CopyButton text={code} />
        </span>
      </CardHead>
      <Tabs.Root value={chosen} onValueChange={(next) => choose(String(next))}>
        <Tabs.List className={`${segmentsLook} mt-3 mr-4 mb-0 ml-4`} aria-label={title}>
          {names.map((name) => (
            <Tabs.Tab key={name} className={segmentLook} value={name}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={chosen}>
          <Code>{code}</Code>
        </Tabs.Panel>
      </Tabs.Root>
    </Card>
  );
}

/** Lines of a program. */
export function Code({ children }: { readonly children: string }) {
  return (
    <pre className="m-4 wrap-anywhere whitespace-pre-wrap" tabIndex={0}>
      {children}
    </pre>
  );
}

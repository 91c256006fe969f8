/** The turns of a dialogue, and their form as text: lines of `voice: text`, as `polyvox say --dialogue` reads them. */

export interface Turn {
  /** Tells turns apart while they are moved; never sent. */
  key: number;
  voice: string;
  text: string;
}

/** A voice may hold a colon, as a web address does; the one before white space ends it. */
const TURN = /^(\S.{0,200}?):\s+(\S.*)$/;

/** The turns of a script; an indented line continues the turn before it. Throws an Error that names the line. */
export function parseScript(script: string, firstKey: number): Turn[] {
  const turns: Turn[] = [];
  script.split('\n').forEach((line, index) => {
    if (!line.trim()) return;
    const last = turns.at(-1);
    const found = TURN.exec(line);
    if (found) turns.push({ key: firstKey + turns.length, voice: found[1]!.trim(), text: found[2]!.trim() });
    else if (last && /^\s/.test(line)) last.text += ` ${line.trim()}`;
    else throw new Error(`Line ${index + 1} has no voice; write it as “voice: text”.`);
  });
  if (!turns.length) throw new Error('The script is empty; write lines of “voice: text”.');
  return turns;
}

export function writeScript(turns: Turn[]): string {
  return turns.map(({ voice, text }) => `${voice}: ${text.replace(/\s*\n\s*/g, '\n  ')}`).join('\n') + '\n';
}

/** The turns with one of them moved by so many places; those at an end stay. */
export function moved(turns: Turn[], index: number, by: number): Turn[] {
  const target = index + by;
  if (target < 0 || target >= turns.length) return turns;
  const result = [...turns];
  result.splice(target, 0, ...result.splice(index, 1));
  return result;
}

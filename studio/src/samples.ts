/** A sentence to try a voice with, in its language. */
const SAMPLES: Record<string, (name: string) => string> = {
  en: (name) => `Hello, I am ${name}. The evening is quiet, and there is time for a story.`,
  es: (name) => `Hola, soy ${name}. La tarde es tranquila y hay tiempo para un cuento.`,
  fr: (name) => `Bonjour, je suis ${name}. La soirée est calme, et nous avons le temps d'une histoire.`,
  de: (name) => `Hallo, ich bin ${name}. Der Abend ist ruhig, und es ist Zeit für eine Geschichte.`,
  hi: (name) => `नमस्ते, मैं ${name} हूँ। शाम शांत है, और कहानी के लिए समय है।`,
  it: (name) => `Ciao, sono ${name}. La sera è tranquilla e c'è tempo per una storia.`,
  pt: (name) => `Olá, eu sou ${name}. A noite está calma e há tempo para uma história.`,
  ja: () => 'こんにちは。静かな夕方ですね。少しお話をしましょう。',
  zh: () => '你好。今晚很安静，我们有时间讲一个故事。',
};

export function sampleText(language: string, name: string): string {
  return (SAMPLES[language.split('-')[0] ?? ''] ?? SAMPLES.en!)(name);
}

"""Speak without a server: a file, a stream, word timings."""

from polyvox import Speaker

with Speaker() as speaker:
    speech = speaker.say("The birch canoe slid on the smooth planks.", voice="af_heart")
    speech.save("canoe.mp3")
    for word in speech.words:
        print(f"{word.start:5.2f}  {word.word}")

    for chunk in speaker.stream("The first clause is short. The rest follows while you listen.", voice="bf_emma"):
        print(f"chunk {chunk.index}: {chunk.duration:.2f} s")

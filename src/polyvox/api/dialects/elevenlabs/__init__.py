"""ElevenLabs' speech API: HTTP, and the WebSockets that voice agents stream their text through."""

"""Perth (PERceptual THreshold): a watermark in the levels of speech below 2 kHz.

A network reads the levels of the bins and changes them by a little; another one finds the change. What is added is
confined to these bins, so that it is computed apart from the speech, whose other frequencies stay as they are.
"""

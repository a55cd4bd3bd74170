"""Sentences of an answer that claim nothing: greetings, offers of help, questions back.

No list of such sentences is kept. A sentence claims nothing where all of its words are of the few
with which people are greeted, thanked and offered help. One word more makes it a claim, which is
judged like any other; so does a figure, a name or a yes.
"""

from __future__ import annotations

import re

from .claim_content import content_of

_WORD = re.compile(r"[\w'’]+")
_ENGLISH = """
i i'm i'd i'll we you you're your me us my it this that these there is are was be been am if so or
and to the a an of for in with on at as any more else other about do don't hesitate can could may
would will should have had has let know what how which here help helps helped helpful assist
assistance hope feel free ask reach out please question questions anything something need needs
further additional information details clarification clarify elaborate explain explanation like
want thanks thank sure certainly course glad happy welcome hello hi dear great good day regards
best sorry ok okay yes just answer answers answered answering useful
"""
_GERMAN = """
ich wir sie du dass ihnen dir dich ihr ihre mir uns es das dies ist sind war wenn falls so oder
und zu zur die der den dem ein eine einen für in mit bei noch weitere weiteren mehr etwas dazu
darüber können könnte kann kannst möchten möchte haben hast hat habe lassen lass wissen hilft
helfen hilfe geholfen behilflich hilfreich hoffe gerne gern fragen frage fragst bitte benötigen
brauchen brauchst informationen details erläutern erklären danke dank vielen sicher natürlich
freue freut willkommen hallo guten tag grüße grüßen beste besten wie was sonst stehe verfügung
jederzeit
"""
_FRENCH = """
je j'espère que nous vous tu te me m' n'hésitez hésitez cela ceci ça c'est est si ou et à au aux
de des d' le la les l' un une pour en avec sur plus autre autres d'autres quelque chose pas puis
peux pouvez voulez voudriez souhaitez avez besoin faites moi faire savoir aide aider aidé utile
espère question questions poser demander information informations précisions détails expliquer
merci bien sûr certainement bonjour bonne journée cordialement
"""
_SPANISH = """
yo que usted ustedes tú te me le les nos esto eso es si o y a al de del el la los las un una para
en con sobre más otra otras algo alguna algún puedo puede puedes quiere quieres desea necesita
necesitas tiene tienes hágame saber dime avísame ayuda ayude ayudar ayudado ayudarte ayudarle útil
espero dude dudes pregunta preguntas preguntar información detalles explicar gracias claro por
supuesto favor hola buenos días saludos
"""
_ITALIAN = """
io che lei tu ti mi le vi ci questo ciò è se o e a al di del il la lo i gli un una per in con su
più altra altre altro qualcosa posso può puoi vuole vuoi desidera ha hai bisogno fammi sapere
aiuto aiuti aiutare aiutarla aiutarti utile spero esiti esitare domanda domande chiedere
informazioni dettagli spiegare grazie certo certamente favore ciao buongiorno buona giornata
saluti
"""
_PORTUGUESE = """
eu que você vocês te me lhe nos isto isso é se ou e a ao de do da o os as um uma para em com sobre
mais outra outras algo alguma posso pode quer deseja precisa precisar tem saiba saber avise ajuda
ajude ajudar ajudado útil espero hesite pergunta perguntas perguntar informações informação
detalhes explicar obrigado obrigada claro certamente favor olá bom dia cumprimentos
"""
_DUTCH = """
ik wij dat u je jij jou uw jouw me mij ons dit dat het is zijn als of en om te de een voor in met
op nog meer verdere andere iets anders over kan kunt kun wilt wil heeft heb hebt laat weten helpt
helpen hulp geholpen nuttig hoop graag vraag vragen stellen gerust aarzel nodig informatie details
toelichten uitleggen bedankt dank natuurlijk zeker hallo goedendag groet groeten
"""
_LANGUAGES = tuple(
    frozenset(words.split())
    for words in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH)
)
_COURTESIES = """
hope hesitate feel let thanks thank welcome hello hi glad happy regards hoffe lassen lass danke
dank willkommen hallo freue freut grüße grüßen j'espère espère n'hésitez hésitez merci bonjour
cordialement faites espero dude dudes hágame dime avísame gracias hola saludos spero esiti esitare
fammi grazie ciao buongiorno saluti avise hesite obrigado obrigada olá cumprimentos hoop gerust
aarzel bedankt laat groet groeten
"""
_COURTESY = frozenset(_COURTESIES.split())
"""One of these has to be there: "You can." answers a question."""
_DUTY = frozenset({"to", "zu"})
"""Before one of them they say what somebody has to do: "You have to let us know."."""


def claims_nothing(sentence: str) -> bool:
    """Whether ``sentence`` greets, thanks, offers or asks back, and says nothing else."""
    content = content_of(sentence)
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(content)]
    if not words or not any(spoken.issuperset(words) for spoken in _LANGUAGES):
        return False
    if content.rstrip().endswith("?"):
        return True
    polite = [at for at, word in enumerate(words) if word in _COURTESY]
    return any(at == 0 or words[at - 1] not in _DUTY for at in polite)
